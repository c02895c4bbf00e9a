// The main program of tests that run on every transport, in several layouts after one start.
// Options: --transport, either --layouts or --ranks and --ranks-per-node, and the options of
// GoogleTest.
//
//     --layouts 1,3,7:2    all tests on 1 rank, on 3, and on 7 with virtual nodes of 2 ranks
//     --rotate             every second of the layouts, if LONGSHORE_TEST_PART is set: an even
//                          number selects the first, the third and so on
//
// On threads and simulated a layout starts its number of ranks. On mpi the first launched ranks run
// the layout, while the other ranks wait. On shmem and ucx all ranks take part.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/spmd_test.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/detail/first_ranks_test.hpp>
#endif

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::testing {
namespace {

struct layout {
  int ranks = 0;           // 0 means all started ranks
  int ranks_per_node = 0;  // 0 means real nodes
  [[nodiscard]] std::string text() const {
    return (ranks > 0 ? std::to_string(ranks) : "all") +
           (ranks_per_node > 0 ? ":" + std::to_string(ranks_per_node) : "");
  }
};

using test_body = std::function<void(team&)>;

// Runs the body of spmd() in the current layout.
std::function<void(const test_body&)> run_body;
std::string current_layout;  // for failure messages

// The listener of ranks other than 0, which print only failures.
class failure_printer final : public ::testing::EmptyTestEventListener {
 public:
  explicit failure_printer(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    fmt::print(stderr, "rank {}: {}:{}: {}\n", rank_,
               result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
               result.message());
  }

 private:
  int rank_;
};

int whole_number(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < 0)
    fail(errc::usage, "'{}' is not a number of ranks", text);
  return number;
}

// Parses a text such as "1,3,7:2".
std::vector<layout> layouts_of_text(std::string_view text) {
  std::vector<layout> layouts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t colon = item.find(':');
    layouts.push_back({whole_number(item.substr(0, colon)),
                       colon == item.npos ? 0 : whole_number(item.substr(colon + 1))});
    begin = end + 1;
  }
  return layouts;
}

// The layouts of this part, if a test run has parts. A single layout is in every part.
std::vector<layout> layouts_of_part(const std::vector<layout>& all) {
  const char* part = std::getenv("LONGSHORE_TEST_PART");
  if (part == nullptr || *part == 0 || all.size() < 2) return all;
  std::vector<layout> chosen;
  for (auto i = static_cast<std::size_t>(whole_number(part) % 2); i < all.size(); i += 2)
    chosen.push_back(all[i]);
  return chosen;
}

struct command_line {
  run_options options = options_from_environment();
  std::vector<layout> layouts;
};

command_line take_options(int& argc, char** argv) {
  command_line parsed;
  layout single{parsed.options.ranks, *parsed.options.ranks_per_node};
  bool rotates = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool has_value = i + 1 < argc;
    if (has_value && name == "--transport")
      parsed.options.transport = argv[++i];
    else if (has_value && name == "--layouts")
      parsed.layouts = layouts_of_text(argv[++i]);
    else if (has_value && name == "--ranks")
      single.ranks = whole_number(argv[++i]);
    else if (has_value && name == "--ranks-per-node")
      single.ranks_per_node = whole_number(argv[++i]);
    else if (name == "--rotate")
      rotates = true;
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  if (parsed.layouts.empty()) parsed.layouts.push_back(single);
  if (rotates) parsed.layouts = layouts_of_part(parsed.layouts);
  return parsed;
}

// Runs all tests in a layout. True if the tests passed on this rank, or if this rank does not take
// part.
bool passes_tests(runtime& started, [[maybe_unused]] int started_ranks, const layout& tried) {
  run_options options = started.options();
  options.ranks = tried.ranks;
  options.ranks_per_node = tried.ranks_per_node;
  current_layout = fmt::format("layout {} on {}", tried.text(), options.transport);
#ifdef LONGSHORE_HAVE_MPI
  if (options.transport == "mpi" && tried.ranks > 0 && tried.ranks < started_ranks) {
    const mpi::first_ranks ranks(tried.ranks);
    if (!ranks.include_this()) return true;
    run_body = [&](const test_body& body) { ranks.run(options, body); };
    return RUN_ALL_TESTS() == 0;
  }
#endif
  run_body = [&](const test_body& body) { started.run(options, body); };
  return RUN_ALL_TESTS() == 0;
}

int run_all(int argc, char** argv) {
  const command_line parsed = take_options(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  runtime started(parsed.options);
  int rank = 0, ranks = 0;
  if (!detail::is_one_process(started.options().transport))
    started.run([&](team& team) {
      rank = team.rank();
      ranks = team.size();
    });
  if (rank > 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failure_printer(rank));
  }
  std::string failed_layouts;
  for (const layout& tried : parsed.layouts) {
    if (rank == 0) fmt::print("==== layout {} on {}\n", tried.text(), started.options().transport);
    std::fflush(stdout);
    if (!passes_tests(started, ranks, tried)) failed_layouts += " " + tried.text();
  }
  if (rank == 0 && ::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    fmt::print(stderr, "no test was run\n");
    return EXIT_FAILURE;
  }
  if (!failed_layouts.empty())
    fmt::print(stderr, "rank {}: tests failed on {} in layouts{}\n", rank,
               started.options().transport, failed_layouts);
  return failed_layouts.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

void spmd(const std::function<void(team&)>& body) {
  try {
    run_body([&](team& team) {
      const ::testing::ScopedTrace where(__FILE__, __LINE__,
                                         fmt::format("{}, rank {}", current_layout, team.rank()));
      body(team);
    });
  } catch (const std::exception& e) {
    FAIL() << current_layout << ": " << e.what();
  }
}

}  // namespace longshore::testing

int main(int argc, char** argv) {
  try {
    return longshore::testing::run_all(argc, argv);
  } catch (const longshore::error& e) {
    fmt::print(stderr, "{}\n", e.what());
    return EXIT_FAILURE;
  }
}

// The main program of tests that run on every transport, in several layouts after one start:
// --transport, then either --layouts or --ranks and --ranks-per-node, then GoogleTest's own
// options.
//
//     --layouts 1,3,7:2    all tests on 1 rank, on 3, and on 7 of which 2 share a virtual node
//
// On threads a layout has as many ranks as it says. On mpi it has the first of those that the
// launcher started, while the others wait. On shmem and ucx all ranks take part.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/spmd_test.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/first_ranks_test.hpp>
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
  int ranks = 0;           // 0: as many as were started
  int ranks_per_node = 0;  // 0: the real nodes
  [[nodiscard]] std::string text() const {
    return (ranks > 0 ? std::to_string(ranks) : "all") +
           (ranks_per_node > 0 ? ":" + std::to_string(ranks_per_node) : "");
  }
};

using body_of_a_test = std::function<void(team&)>;

// How spmd() runs a body in the layout that is tried now, and the layout as failures name it.
std::function<void(const body_of_a_test&)> run_now;
std::string layout_now;

// What ranks other than 0 print: their failures, nothing else.
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
    fail(errc::usage, "'{}' is no number of ranks", text);
  return number;
}

// "1,3,7:2"
std::vector<layout> layouts_of_text(std::string_view text) {
  std::vector<layout> layouts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const std::size_t colon = one.find(':');
    layouts.push_back({whole_number(one.substr(0, colon)),
                       colon == one.npos ? 0 : whole_number(one.substr(colon + 1))});
    begin = end + 1;
  }
  return layouts;
}

struct command_line {
  run_options options = options_from_environment();
  std::vector<layout> layouts;
};

command_line take_options(int& argc, char** argv) {
  command_line asked;
  layout single{asked.options.ranks, asked.options.ranks_per_node};
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool has_value = i + 1 < argc;
    if (has_value && name == "--transport")
      asked.options.transport = argv[++i];
    else if (has_value && name == "--layouts")
      asked.layouts = layouts_of_text(argv[++i]);
    else if (has_value && name == "--ranks")
      single.ranks = whole_number(argv[++i]);
    else if (has_value && name == "--ranks-per-node")
      single.ranks_per_node = whole_number(argv[++i]);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  if (asked.layouts.empty()) asked.layouts.push_back(single);
  return asked;
}

// Whether all tests passed on this rank, or it has no part in this layout.
bool passes(launcher& started, [[maybe_unused]] int started_ranks, const layout& tried) {
  run_options options = started.options();
  options.ranks = tried.ranks;
  options.ranks_per_node = tried.ranks_per_node;
  layout_now = fmt::format("layout {} on {}", tried.text(), options.transport);
#ifdef LONGSHORE_HAVE_MPI
  if (options.transport == "mpi" && tried.ranks > 0 && tried.ranks < started_ranks) {
    const mpi::first_ranks ranks(tried.ranks);
    if (!ranks.include_this()) return true;
    run_now = [&](const body_of_a_test& body) { ranks.run(options, body); };
    return RUN_ALL_TESTS() == 0;
  }
#endif
  run_now = [&](const body_of_a_test& body) { started.run(options, body); };
  return RUN_ALL_TESTS() == 0;
}

int run_all(int argc, char** argv) {
  const command_line asked = take_options(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  launcher started(asked.options);
  int rank = 0, ranks = 0;
  if (started.options().transport != "threads")
    started.run([&](team& all) {
      rank = all.rank();
      ranks = all.size();
    });
  if (rank > 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failure_printer(rank));
  }
  std::string failed;
  for (const layout& tried : asked.layouts) {
    if (rank == 0) fmt::print("==== layout {} on {}\n", tried.text(), started.options().transport);
    std::fflush(stdout);
    if (!passes(started, ranks, tried)) failed += " " + tried.text();
  }
  if (rank == 0 && ::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    fmt::print(stderr, "no test was run\n");
    return EXIT_FAILURE;
  }
  if (!failed.empty())
    fmt::print(stderr, "rank {}: tests failed on {} in layouts{}\n", rank,
               started.options().transport, failed);
  return failed.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

void spmd(const std::function<void(team&)>& body) {
  try {
    run_now([&](team& team) {
      const ::testing::ScopedTrace where(__FILE__, __LINE__,
                                         fmt::format("{}, rank {}", layout_now, team.rank()));
      body(team);
    });
  } catch (const std::exception& e) {
    FAIL() << layout_now << ": " << e.what();
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

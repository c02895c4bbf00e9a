// The main program of tests that run on every transport: --transport, --ranks and --ranks-per-node, then GoogleTest's own options.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace longshore::testing {
namespace {

launcher* current = nullptr;

// What ranks other than 0 print: their failures, nothing else.
class failure_printer final : public ::testing::EmptyTestEventListener {
 public:
  explicit failure_printer(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name() == nullptr ? "?" : result.file_name(),
                 result.line_number(), result.message());
  }

 private:
  int rank_;
};

run_options take_options(int& argc, char** argv) {
  run_options options = options_from_environment();
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (has_value && std::strcmp(argv[i], "--transport") == 0)
      options.transport = argv[++i];
    else if (has_value && std::strcmp(argv[i], "--ranks") == 0)
      options.ranks = std::atoi(argv[++i]);
    else if (has_value && std::strcmp(argv[i], "--ranks-per-node") == 0)
      options.ranks_per_node = std::atoi(argv[++i]);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  return options;
}

}  // namespace

void spmd(const std::function<void(team&)>& body) {
  try {
    current->run(body);
  } catch (const std::exception& e) {
    FAIL() << e.what();
  }
}

}  // namespace longshore::testing

int main(int argc, char** argv) {
  const auto options = longshore::testing::take_options(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  longshore::launcher launcher(options);
  longshore::testing::current = &launcher;
  if (launcher.options().transport != "threads") {
    launcher.run([](longshore::team& team) {
      if (team.rank() == 0) return;
      auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new longshore::testing::failure_printer(team.rank()));
    });
  }
  const int status = RUN_ALL_TESTS();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test was run\n");
    return EXIT_FAILURE;
  }
  return status;
}

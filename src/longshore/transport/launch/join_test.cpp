// Tests of teams outside of run(), and of the runtime. Teams of a communicator are tested in
// transport/mpi/own_program_test.cpp, and with mpi4py in the tests of the Python package.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

namespace longshore {
namespace {

run_options on_threads() {
  run_options options;
  options.transport = "threads";
  return options;
}

errc code_of(const run_options& options) {
  try {
    (void)join(options);
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

TEST(join, a_single_rank_can_make_all_calls_of_a_team) {
  const std::shared_ptr<team> single_rank = join(on_threads());
  EXPECT_EQ(single_rank->rank(), 0);
  EXPECT_EQ(single_rank->size(), 1);
  single_rank->barrier();
  EXPECT_EQ(single_rank->allreduce_value(7, reduction::sum), 7);
  const auto memory = single_rank->allocate(100);
  const int value = 3;
  memory->put(0, 40, &value, sizeof value);
  int read = 0;
  memory->get(0, 40, &read, sizeof read);
  EXPECT_EQ(read, 3);
  const std::array ends{channel_end{.peer = 0, .slot_bytes = 8}};
  EXPECT_NE(single_rank->open_channels(ends, ends, 1), nullptr);
}

TEST(join, two_teams_at_a_time_are_independent) {
  const auto first = join(on_threads()), second = join(on_threads());
  EXPECT_NE(first.get(), second.get());
  first->barrier();
  second->barrier();
}

TEST(join, refuses_several_ranks_as_threads) {
  run_options options = on_threads();
  options.ranks = 1;
  EXPECT_EQ(code_of(options), errc{});
  options.ranks = 2;
  EXPECT_EQ(code_of(options), errc::usage);
}

TEST(join, refuses_an_unknown_transport) {
  run_options options;
  options.transport = "pigeons";
  EXPECT_EQ(code_of(options), errc::usage);
}

TEST(runtime, runs_again_with_other_options) {
  runtime started(on_threads());
  run_options options = on_threads();
  for (const int ranks : {2, 3}) {
    options.ranks = ranks;
    options.ranks_per_node = ranks - 1;
    std::atomic<int> ran = 0;
    started.run(options, [&](team& team) {
      EXPECT_EQ(team.size(), ranks);
      EXPECT_EQ(team.nodes().node_count(), 2);
      ++ran;
    });
    EXPECT_EQ(ran, ranks);
  }
}

// Redirects stderr to a file during its lifetime.
class captured_stderr {
 public:
  captured_stderr() : file_(std::tmpfile()), original_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~captured_stderr() {
    std::fflush(stderr);
    dup2(original_, STDERR_FILENO);
    close(original_);
    std::fclose(file_);
  }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text(1000, '\0');
    text.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, pread(fileno(file_), text.data(), text.size(), 0))));
    return text;
  }

 private:
  std::FILE* file_;
  int original_;
};

constexpr int many_ranks_per_core = 16, max_ranks = 4096;

TEST(runtime, prints_the_progress_of_a_long_start_of_many_ranks) {
  run_options options = on_threads();
  options.ranks = many_ranks_per_core * usable_cores() + 1;
  options.notice_seconds = 1e-3;
  if (options.ranks > max_ranks)
    GTEST_SKIP() << "this machine has too many cores for more ranks per core";
  std::string printed;
  {
    const captured_stderr captured;
    runtime(options).run([&](team& team) {
      const double began = team.now();
      while (team.rank() == 1 && captured.text().empty() && team.now() - began < 60)
        std::this_thread::yield();
      team.barrier();
    });
    printed = captured.text();
  }
  EXPECT_NE(printed.find(std::to_string(options.ranks) + " ranks"), std::string::npos) << printed;
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
}

TEST(runtime, prints_nothing_about_a_short_start) {
  run_options options = on_threads();
  options.ranks = std::min(many_ranks_per_core * usable_cores() + 1, max_ranks);
  options.notice_seconds = 1e6;
  const captured_stderr captured;
  runtime(options).run([&](team& team) { team.barrier(); });
  EXPECT_EQ(captured.text(), "");
}

// After a timeout the barrier can no longer count the ranks. The run ends nevertheless.
TEST(runtime, ends_a_run_in_which_a_rank_caught_a_timeout) {
  for (const int ranks : {2, 3})
    for (int impatient = 0; impatient < ranks; ++impatient) {
      run_options options = on_threads();
      options.ranks = ranks;
      options.timeout_seconds = 0.2;
      errc caught{};
      std::atomic<bool> gave_up = false;
      runtime(options).run([&](team& team) {
        if (team.rank() != impatient) {
          while (!gave_up) std::this_thread::yield();
          return;
        }
        try {
          team.barrier();
        } catch (const error& e) {
          caught = e.code();
        }
        gave_up = true;
      });
      EXPECT_EQ(caught, errc::timeout);
    }
}

TEST(join, refuses_a_communicator_unless_mpi_is_running) {
  const auto available = available_transports();
  const bool mpi = std::find(available.begin(), available.end(), "mpi") != available.end();
  const void* const no_communicator = nullptr;  // as large as an MPI_Comm
  try {
    (void)detail::join(&no_communicator, nullptr, {});
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), mpi ? errc::usage : errc::unsupported) << e.what();
  }
}

}  // namespace
}  // namespace longshore

// Teams outside of run(). That of a communicator is tested where programs start MPI:
// transport/mpi/own_program_test.cpp has two of its own, and the tests of the Python package join
// communicators of mpi4py.
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

TEST(join, one_rank_alone_has_all_that_a_team_has) {
  const std::shared_ptr<team> mine = join(on_threads());
  EXPECT_EQ(mine->rank(), 0);
  EXPECT_EQ(mine->size(), 1);
  mine->barrier();
  EXPECT_EQ(mine->allreduce_value(7, reduction::sum), 7);
  const auto memory = mine->allocate(100);
  const int value = 3;
  memory->put(0, 40, &value, sizeof value);
  int read = 0;
  memory->get(0, 40, &read, sizeof read);
  EXPECT_EQ(read, 3);
  const std::array ends{channel_end{.peer = 0, .slot_bytes = 8}};
  EXPECT_NE(mine->open_channels(ends, ends, 1), nullptr);
}

TEST(join, two_teams_at_a_time_are_two) {
  const auto first = join(on_threads()), second = join(on_threads());
  EXPECT_NE(first.get(), second.get());
  first->barrier();
  second->barrier();
}

TEST(join, several_ranks_as_threads_need_something_to_run) {
  run_options options = on_threads();
  options.ranks = 1;
  EXPECT_EQ(code_of(options), errc{});
  options.ranks = 2;
  EXPECT_EQ(code_of(options), errc::usage);
}

TEST(join, a_transport_that_there_is_not_is_refused) {
  run_options options;
  options.transport = "pigeons";
  EXPECT_EQ(code_of(options), errc::usage);
}

TEST(launcher, runs_again_with_other_options) {
  launcher started(on_threads());
  run_options options = on_threads();
  for (const int ranks : {2, 3}) {
    options.ranks = ranks;
    options.ranks_per_node = ranks - 1;
    std::atomic<int> ran = 0;
    started.run(options, [&](team& mine) {
      EXPECT_EQ(mine.size(), ranks);
      EXPECT_EQ(mine.nodes().node_count(), 2);
      ++ran;
    });
    EXPECT_EQ(ran, ranks);
  }
}

// What is printed to stderr goes to a file meanwhile.
class captured_stderr {
 public:
  captured_stderr() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~captured_stderr() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;

  [[nodiscard]] std::string text() const {
    std::string all(1000, '\0');
    all.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, pread(fileno(file_), all.data(), all.size(), 0))));
    return all;
  }

 private:
  std::FILE* file_;
  int before_;
};

constexpr int crowd_per_core = 16, most_ranks = 4096;

TEST(launcher, says_how_far_a_start_of_many_ranks_is_that_takes_long) {
  run_options options = on_threads();
  options.ranks = crowd_per_core * usable_cores() + 1;
  options.notice_seconds = 1e-3;
  if (options.ranks > most_ranks)
    GTEST_SKIP() << "this machine has cores for as many ranks as there may be";
  std::string said;
  {
    const captured_stderr now;
    launcher(options).run([&](team& mine) {
      const double began = mine.now();
      while (mine.rank() == 1 && now.text().empty() && mine.now() - began < 60)
        std::this_thread::yield();
      mine.barrier();
    });
    said = now.text();
  }
  EXPECT_NE(said.find(std::to_string(options.ranks) + " ranks"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST(launcher, says_nothing_of_a_start_that_is_over_soon) {
  run_options options = on_threads();
  options.ranks = std::min(crowd_per_core * usable_cores() + 1, most_ranks);
  options.notice_seconds = 1e6;
  const captured_stderr now;
  launcher(options).run([&](team& mine) { mine.barrier(); });
  EXPECT_EQ(now.text(), "");
}

// A rank that catches its timeout may only leave; the run ends although the barrier has lost count
// of who is there.
TEST(launcher, ends_a_run_in_which_a_rank_has_caught_the_timeout_of_a_barrier) {
  for (const int ranks : {2, 3})
    for (int impatient = 0; impatient < ranks; ++impatient) {
      run_options options = on_threads();
      options.ranks = ranks;
      options.timeout_seconds = 0.2;
      errc caught{};
      std::atomic<bool> gave_up = false;
      launcher(options).run([&](team& team) {
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

TEST(join, a_communicator_needs_mpi_to_run) {
  const auto available = available_transports();
  const bool mpi = std::find(available.begin(), available.end(), "mpi") != available.end();
  const int no_communicator = 0;
  try {
    (void)join_communicator(&no_communicator, {});
    FAIL() << "it was not refused";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), mpi ? errc::usage : errc::unsupported) << e.what();
  }
}

}  // namespace
}  // namespace longshore

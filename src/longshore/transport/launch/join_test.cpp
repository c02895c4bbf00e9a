// Teams outside of run(). That of a communicator is tested where programs start MPI: transport/mpi/own_program_test.cpp has two of its own,
// and the tests of the Python package join communicators of mpi4py.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

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

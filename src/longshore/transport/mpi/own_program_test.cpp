// Tests of programs that start MPI themselves, make teams from their own communicators, and also
// send their own MPI messages.
#include <longshore/transport/mpi/detail/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace longshore {
namespace {

run_options with(int ranks_per_node) {
  run_options options;
  options.ranks_per_node = ranks_per_node;
  options.timeout_seconds = 240;
  return options;
}

struct world {
  world() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0, size = 0;
};

// Passes a number around a ring, first through a segment, then through channels.
void check_ring(team& team, int salt) {
  const int up = (team.rank() + 1) % team.size(),
            down = (team.rank() + team.size() - 1) % team.size();
  const int sent = 100 * salt + team.rank(), expected = 100 * salt + down;
  const auto memory = team.allocate(sizeof(int));
  memory->put(up, 0, &sent, sizeof(sent));
  memory->quiet();
  team.barrier();
  int received = -1;
  memory->get(team.rank(), 0, &received, sizeof(received));
  EXPECT_EQ(received, expected);

  const channel_end to{up, 64}, from{down, 64};
  const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
  std::memcpy(channels->sender(0).reserve(), &sent, sizeof(sent));
  channels->sender(0).commit(sizeof(sent));
  std::optional<std::span<const std::byte>> message;
  for (waiter wait(team, "a message", down); !(message = channels->receiver(0).front());
       wait.pause()) {
  }
  std::memcpy(&received, message->data(), sizeof(received));
  EXPECT_EQ(received, expected);
  channels->receiver(0).release();
}

class OwnProgram : public ::testing::TestWithParam<int> {};  // ranks per virtual node

TEST_P(OwnProgram, makes_teams_of_all_processes) {
  const auto first = mpi::team::make(MPI_COMM_WORLD, with(GetParam()));
  EXPECT_EQ(first->rank(), world().rank);
  EXPECT_EQ(first->size(), world().size);
  const auto second = mpi::team::make(MPI_COMM_WORLD, with(0));  // two teams at the same time
  check_ring(*first, 1);
  check_ring(*second, 2);
  check_ring(*first, 3);
}

TEST_P(OwnProgram, makes_teams_of_communicators_that_work_independently) {
  const world world;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, -world.rank,
                 &part);  // odd and even ranks, backwards
  {
    const auto part_team = mpi::team::make(part, with(GetParam()));
    EXPECT_EQ(part_team->size(), (world.size + 1 - world.rank % 2) / 2);
    EXPECT_EQ(part_team->rank(), part_team->size() - 1 - world.rank / 2);
    for (int round = 0; round < (world.rank % 2 == 0 ? 2 : 20); ++round)
      check_ring(*part_team, round);
    const auto whole = mpi::team::make(MPI_COMM_WORLD, with(GetParam()));
    check_ring(*whole, 7);
    check_ring(*part_team, 8);
  }
  MPI_Comm_free(&part);
}

TEST_P(OwnProgram, own_messages_make_progress_while_a_team_waits) {
  const auto team = mpi::team::make(MPI_COMM_WORLD, with(GetParam()));
  // Before the barrier, the next rank makes a synchronous send to the waiting rank. This send
  // completes only if the waiting rank makes progress.
  const int up = (team->rank() + 1) % team->size(),
            down = (team->rank() + team->size() - 1) % team->size();
  for (int waiting = 0; waiting < team->size() && team->size() > 1; ++waiting) {
    int in = -1;
    const int out = waiting;
    MPI_Request request = MPI_REQUEST_NULL;
    if (team->rank() == waiting) MPI_Irecv(&in, 1, MPI_INT, up, 0, MPI_COMM_WORLD, &request);
    if (down == waiting) MPI_Ssend(&out, 1, MPI_INT, down, 0, MPI_COMM_WORLD);
    team->barrier();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(in, team->rank() == waiting ? waiting : -1);
  }
}

TEST_P(OwnProgram, keeps_its_error_handler) {
  check_ring(*mpi::team::make(MPI_COMM_SELF, with(GetParam())), 1);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);  // the team sets its own handler on duplicates
}

INSTANTIATE_TEST_SUITE_P(on, OwnProgram, ::testing::Values(0, 1, 2));

}  // namespace
}  // namespace longshore

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}

// Measuring by turns: the slow candidate loses after its first turns, and all ranks agree.
#include <longshore/transport/detail/fastest_by_turns.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

namespace longshore {
namespace {

using testing::spmd;

// One rank takes so long that no disturbance makes all turns of another candidate as long.
void be_slow(team& team) {
  constexpr double seconds = 0.05;
  if (team.rank() != 0) return;
  team.charge_seconds(seconds);
  if (team.costs() == nullptr) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

TEST(FastestByTurns, a_slow_candidate_gets_no_more_than_the_first_turns) {
  spmd([](team& team) {
    std::array<int, 3> calls{};
    const auto run = [&](std::size_t i) {
      ++calls[i];
      if (i == 1) be_slow(team);
    };
    const auto chosen =
        detail::fastest_by_turns(team, calls.size(), run, {.first_turns = 2, .turns = 5});
    EXPECT_NE(chosen, 1U);
    EXPECT_EQ(calls[1], 2);
    for (const auto other : team.allgather_value(chosen)) EXPECT_EQ(other, chosen);
    const auto all = team.allgather_value(calls);
    for (const auto& of_rank : all) EXPECT_EQ(of_rank, calls);
  });
}

TEST(FastestByTurns, limited_time_ends_with_one_turn_after_the_first) {
  spmd([](team& team) {
    std::array<int, 2> calls{};
    const auto run = [&](std::size_t i) {
      ++calls[i];
      be_slow(team);
    };
    static_cast<void>(detail::fastest_by_turns(
        team, calls.size(), run, {.first_turns = 1, .turns = 9, .more_seconds = 0.01}));
    EXPECT_LE(calls[0], 2);
    EXPECT_LE(calls[1], 2);
  });
}

TEST(FastestByTurns, the_only_candidate_is_chosen) {
  spmd([](team& team) { EXPECT_EQ(detail::fastest_by_turns(team, 1, [](std::size_t) {}), 0U); });
}

}  // namespace
}  // namespace longshore

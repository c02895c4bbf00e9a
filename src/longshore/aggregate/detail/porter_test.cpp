// A porter by itself, on a clock that the test moves: which buffers it sends because of their age.
#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace longshore::detail {
namespace {

using longshore::testing::spmd;

// A porter from each rank to each, with buffers that one item does not fill.
struct one_hop {
  explicit one_hop(team& team)
      : everybody(ranks_of(team)),
        lanes(everybody.size()),
        porter(team, everybody, everybody, {.format = {8, 4, 0}, .slots = 1, .stamp_every = 0},
               lanes) {}

  void append(std::size_t i) {
    ASSERT_TRUE(lanes[i].next != lanes[i].end || porter.open(i));
    std::memset(lanes[i].next, 0, 8);
    lanes[i].next += 8;
  }

  // Sends the last buffers and reads all: nothing is under way when the porter goes.
  void end(team& team) {
    waiter wait(team, "the end of a porter");
    for (bool finished = false; !finished || !porter.drained(); wait.pause()) {
      finished = finished || porter.finish(porter::nobody);
      for (std::size_t i = 0; i < porter.source_count(); ++i)
        if (source* const s = porter.look(i)) porter.release(*s);
    }
  }

  static std::vector<int> ranks_of(const team& team) {
    std::vector<int> all(static_cast<std::size_t>(team.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  std::vector<int> everybody;
  std::vector<lane> lanes;
  detail::porter porter;
};

struct bounds {
  std::uint64_t advances;
  double seconds;
};

// The number of the tick after which the buffer goes that was opened after tick 0, at one tick a
// second; 0: after none of 9.
int tick_that_sends(team& team, bounds asked) {
  one_hop hop(team);
  hop.porter.tick(1000);
  hop.append(0);
  int sent_after = 0;
  for (int tick = 1; tick < 10 && sent_after == 0; ++tick) {
    hop.porter.tick(1000 + tick);
    hop.porter.ship_older_than(asked.advances, asked.seconds);
    if (hop.porter.shipped() > 0) sent_after = tick;
  }
  hop.end(team);
  return sent_after;
}

TEST(Porter, sends_a_buffer_that_is_beyond_either_of_two_bounds) {
  spmd([](team& team) {
    EXPECT_EQ(tick_that_sends(team, {.advances = 3, .seconds = 1e9}), 3);
    EXPECT_EQ(tick_that_sends(team, {.advances = 1'000'000, .seconds = 4}), 4);
    EXPECT_EQ(tick_that_sends(team, {.advances = 5, .seconds = 4}), 4);
    EXPECT_EQ(tick_that_sends(team, {.advances = 4, .seconds = 5}), 4);
  });
}

TEST(Porter, takes_a_bound_of_0_for_no_bound) {
  spmd([](team& team) {
    EXPECT_EQ(tick_that_sends(team, {.advances = 3, .seconds = 0}), 3);
    EXPECT_EQ(tick_that_sends(team, {.advances = 0, .seconds = 4}), 4);
    EXPECT_EQ(tick_that_sends(team, {.advances = 0, .seconds = 0}), 0);
  });
}

TEST(Porter, keeps_the_buffers_that_are_younger) {
  spmd([](team& team) {
    if (team.size() == 1) GTEST_SKIP() << "two buffers need two ranks";
    for (const bounds asked : {bounds{2, 1e9}, bounds{1'000'000, 2}}) {
      one_hop hop(team);
      hop.porter.tick(1);
      hop.append(0);
      hop.porter.tick(2);
      hop.append(1);
      hop.porter.tick(3);
      hop.porter.ship_older_than(asked.advances, asked.seconds);
      EXPECT_EQ(hop.porter.shipped(), 1u);
      EXPECT_TRUE(hop.porter.has_open_lanes());
      hop.end(team);
    }
  });
}

}  // namespace
}  // namespace longshore::detail

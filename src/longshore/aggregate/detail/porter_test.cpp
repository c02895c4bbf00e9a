// A porter alone, with a clock that the test sets: which buffers it sends because of their age.
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

// A porter between all ranks, with buffers of several items.
struct one_hop {
  explicit one_hop(team& team)
      : all_ranks(ranks_of(team)),
        buffers(all_ranks.size()),
        porter(team, all_ranks, all_ranks,
               {.format = {8, 4, 0},
                .slots = 1,
                .slots_between_hosts = 1,
                .buffers_per_timed_item = 0},
               buffers) {}

  void append(std::size_t i) {
    ASSERT_TRUE(buffers[i].next != buffers[i].end || porter.open(i));
    std::memset(buffers[i].next, 0, 8);
    buffers[i].next += 8;
  }

  // Sends the last buffers and reads all messages, so that no message is in flight when the porter
  // is destroyed.
  void end(team& team) {
    waiter wait(team, "the end of a porter");
    for (bool finished = false; !finished || !porter.drained(); wait.pause()) {
      finished = finished || porter.finish(porter::nobody);
      for (std::size_t i = 0; i < porter.peer_count(); ++i)
        if (peer_inbox* const inbox = porter.poll(i)) porter.release(*inbox);
    }
  }

  static std::vector<int> ranks_of(const team& team) {
    std::vector<int> ranks(static_cast<std::size_t>(team.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }

  std::vector<int> all_ranks;
  std::vector<tagged_buffer> buffers;
  detail::porter porter;
};

struct bounds {
  std::uint64_t advances;
  double seconds;
};

// Opens a buffer after tick 0, and ticks once a second. Returns the number of the tick that sends
// the buffer, or 0 if none of 9 ticks does.
int tick_that_sends(team& team, bounds limits) {
  one_hop hop(team);
  hop.porter.tick(1000);
  hop.append(0);
  int sent_after = 0;
  for (int tick = 1; tick < 10 && sent_after == 0; ++tick) {
    hop.porter.tick(1000 + tick);
    hop.porter.send_older_than(limits.advances, limits.seconds);
    if (hop.porter.sent_messages() > 0) sent_after = tick;
  }
  hop.end(team);
  return sent_after;
}

TEST(Porter, sends_a_buffer_that_reaches_either_bound) {
  spmd([](team& team) {
    EXPECT_EQ(tick_that_sends(team, {.advances = 3, .seconds = 1e9}), 3);
    EXPECT_EQ(tick_that_sends(team, {.advances = 1'000'000, .seconds = 4}), 4);
    EXPECT_EQ(tick_that_sends(team, {.advances = 5, .seconds = 4}), 4);
    EXPECT_EQ(tick_that_sends(team, {.advances = 4, .seconds = 5}), 4);
  });
}

TEST(Porter, a_bound_of_0_is_no_bound) {
  spmd([](team& team) {
    EXPECT_EQ(tick_that_sends(team, {.advances = 3, .seconds = 0}), 3);
    EXPECT_EQ(tick_that_sends(team, {.advances = 0, .seconds = 4}), 4);
    EXPECT_EQ(tick_that_sends(team, {.advances = 0, .seconds = 0}), 0);
  });
}

TEST(Porter, keeps_buffers_below_the_bound) {
  spmd([](team& team) {
    if (team.size() == 1) GTEST_SKIP() << "two buffers need two ranks";
    for (const bounds limits : {bounds{2, 1e9}, bounds{1'000'000, 2}}) {
      one_hop hop(team);
      hop.porter.tick(1);
      hop.append(0);
      hop.porter.tick(2);
      hop.append(1);
      hop.porter.tick(3);
      hop.porter.send_older_than(limits.advances, limits.seconds);
      EXPECT_EQ(hop.porter.sent_messages(), 1u);
      EXPECT_TRUE(hop.porter.has_open_buffers());
      hop.end(team);
    }
  });
}

TEST(Porter, passes_over_a_message_that_waits_for_a_full_link) {
  spmd([](team& team) {
    one_hop hop(team);
    for (std::size_t i = 0; i < hop.buffers.size(); ++i) hop.append(i);
    hop.porter.send_all();
    peer_inbox* first = nullptr;
    const auto poll_all = [&](const auto& is_full) {
      std::size_t polls = hop.porter.peer_count();
      return hop.porter.poll_next(polls, is_full);
    };
    for (waiter wait(team, "a message of a porter"); first == nullptr; wait.pause())
      first = poll_all([](std::uint32_t) { return false; });
    static constexpr std::uint32_t link = 7;
    hop.porter.wait_for(*first, link);
    for (int round = 0; round < 3; ++round) {
      const peer_inbox* const other = poll_all([](std::uint32_t awaited) {
        EXPECT_EQ(awaited, link);
        return true;
      });
      EXPECT_NE(other, first);
    }
    std::size_t polls = hop.porter.peer_count();
    bool is_found = false;
    while (const peer_inbox* const inbox =
               hop.porter.poll_next(polls, [](std::uint32_t) { return false; }))
      is_found = is_found || inbox == first;
    EXPECT_TRUE(is_found);
    hop.end(team);
  });
}

}  // namespace
}  // namespace longshore::detail

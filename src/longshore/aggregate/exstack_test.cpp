// Delivery, order, flow control and termination of exstack. Each rank computes which items it must
// receive.
#include <longshore/aggregate/engine_test.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::destinations;
using testing::item;
using testing::spmd;
using testing::traffic_patterns;

// Sends an item to each rank in `to`. Returns the items that arrived, by source.
std::vector<std::vector<item>> send_items(team& team, exstack& stack, const std::vector<int>& to) {
  std::vector<std::int64_t> numbers(team.size());
  std::vector<std::vector<item>> arrived(team.size());
  std::size_t i = 0;
  progress of_all = progress::more;
  while (of_all == progress::more) {
    for (; i < to.size() && stack.push(to[i], item{team.rank(), to[i], numbers[to[i]]}); ++i)
      ++numbers[to[i]];
    of_all = stack.exchange(i == to.size() ? progress::done : progress::more);
    for (int peer = 0; peer < team.size(); ++peer)
      for (const auto& got : stack.arrived<item>(peer)) arrived[peer].push_back(got);
  }
  EXPECT_EQ(of_all, progress::done);
  return arrived;
}

TEST(Exstack, delivers_every_item_once_and_in_order_in_every_epoch) {
  spmd([](team& team) {
    exstack stack(team, 5 * sizeof(item) + 3);  // 5 items and some spare bytes
    std::int64_t moved = 0;
    const std::uint64_t seeds = team.size() <= 8 ? 10 : 1;  // each exchange has ranks^2 messages
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      for (const auto& pattern : traffic_patterns()) {
        const auto arrived = send_items(team, stack, destinations(team, pattern, seed));
        for (int peer = 0; peer < team.size(); ++peer) {
          ASSERT_EQ(arrived[peer].size(), pattern.count(peer, team.rank(), team.size()))
              << pattern.name << ", from rank " << peer;
          for (std::size_t k = 0; k < arrived[peer].size(); ++k)
            ASSERT_EQ(arrived[peer][k], (item{peer, team.rank(), static_cast<std::int64_t>(k)}))
                << pattern.name;
          moved += static_cast<std::int64_t>(arrived[peer].size());
        }
      }
    EXPECT_GT(team.allreduce_value(moved, reduction::sum), 1000);
  });
}

TEST(Exstack, replies_pushed_without_check_arrive_in_the_order_of_requests) {
  spmd([](team& team) {
    exstack stack(team, 7 * sizeof(std::int64_t));
    const auto reply_to = [](std::int64_t request, int by) { return request * 1000 + by; };
    const auto to = destinations(team, traffic_patterns().back(), 3);
    std::size_t requested = 0, replied = 0;
    progress of_all = progress::more;
    while (of_all == progress::more) {
      const std::size_t first = requested;
      while (requested < to.size() &&
             stack.push(to[requested], static_cast<std::int64_t>(requested)))
        ++requested;
      of_all = stack.exchange(requested == to.size() ? progress::done : progress::more);
      for (int peer = 0; peer < team.size(); ++peer)
        for (const auto request : stack.arrived<std::int64_t>(peer))
          ASSERT_TRUE(stack.push(peer, reply_to(request, team.rank())));
      ASSERT_EQ(stack.exchange(of_all), of_all);
      std::vector<std::size_t> next(team.size());
      for (std::size_t k = first; k < requested; ++k, ++replied)
        ASSERT_EQ(stack.arrived<std::int64_t>(to[k])[next[to[k]]++],
                  reply_to(static_cast<std::int64_t>(k), to[k]));
      for (int peer = 0; peer < team.size(); ++peer)
        ASSERT_EQ(next[peer], stack.arrived<std::int64_t>(peer).size());
    }
    EXPECT_EQ(replied, to.size());
    EXPECT_GE(to.size(), 4u);
  });
}

TEST(Exstack, ends_once_all_ranks_are_done_and_reports_a_failed_rank_to_all) {
  spmd([](team& team) {
    exstack stack(team, 8);
    const int last = team.size() - 1;
    for (int k = 0; k < 5; ++k)
      EXPECT_EQ(stack.exchange(team.rank() == last ? progress::more : progress::done),
                progress::more);
    EXPECT_EQ(stack.exchange(team.rank() == last ? progress::failed : progress::done),
              progress::failed);
    EXPECT_EQ(stack.failed_rank(), last);
    EXPECT_EQ(stack.exchange(progress::done), progress::done);  // the exstack can be used again
    EXPECT_EQ(stack.failed_rank(), -1);
  });
}

TEST(Exstack, refuses_an_item_that_does_not_fit_and_counts_messages) {
  spmd([](team& team) {
    exstack stack(team, 16);
    const int next = (team.rank() + 1) % team.size();
    EXPECT_TRUE(stack.push(next, std::int64_t{1}));
    EXPECT_TRUE(stack.push(next, std::int64_t{2}));
    EXPECT_FALSE(stack.push(next, 'x'));
    stack.exchange(progress::done);
    const auto others = static_cast<std::uint64_t>(team.size() - 1);
    EXPECT_EQ(stack.sent().messages, others);
    EXPECT_EQ(stack.sent().wire_bytes, others == 0 ? 0 : others + 16);
    std::uint64_t offnode = 0;
    for (int peer = 0; peer < team.size(); ++peer)
      if (!team.nodes().is_local(peer)) offnode += peer == next ? 17 : 1;
    EXPECT_EQ(stack.sent().offnode_bytes, offnode);
  });
}

TEST(Exstack, long_messages_arrive_unchanged_and_some_are_streamed_within_a_node) {
  spmd([](team& team) {
    constexpr std::size_t items = 512;
    exstack stack(team, items * sizeof(std::int64_t));
    engine_stats stats;
    stack.count_exchanges_in(stats, {.item_bytes = sizeof(std::int64_t), .capacity_items = items});
    const int me = team.rank(), size = team.size(), next = (me + 1) % size;
    const auto number = [](int from, int round, std::size_t k) {
      return 1'000'000 * from + 1000 * round + static_cast<std::int64_t>(k);
    };
    std::size_t wrong = 0;
    for (int round = 0; round < 20; ++round) {
      for (std::size_t k = 0; k < items; ++k) (void)stack.push(next, number(me, round, k));
      stack.exchange(progress::done);
      const int before = (me + size - 1) % size;
      const auto arrived = stack.arrived<std::int64_t>(before);
      ASSERT_EQ(arrived.size(), items);
      for (std::size_t k = 0; k < items; ++k) wrong += arrived[k] != number(before, round, k);
    }
    EXPECT_EQ(wrong, 0U);
    const auto streamed_bytes = stats.hops.front().streamed_bytes;
    if (next == me || !can_stream_lines || team.transport_name() == "simulated") {
      EXPECT_EQ(streamed_bytes, 0U);
    } else if (team.nodes().is_local(next)) {
      EXPECT_GT(streamed_bytes, 0U);
    }
  });
}

TEST(Exstack, a_buffer_of_0_bytes_is_a_usage_error) {
  spmd([](team& team) {
    try {
      exstack stack(team, 0);
      FAIL();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
    }
  });
}

}  // namespace
}  // namespace longshore

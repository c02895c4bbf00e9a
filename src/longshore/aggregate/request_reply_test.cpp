// Requests and replies, and combining, over every engine.
#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/engine_test.hpp>
#include <longshore/aggregate/request_reply.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace longshore {
namespace {

using testing::spmd;

template <class Engine>
void check_requests(team& team, const char* name, engine_options engine,
                    std::size_t combine_entries) {
  SCOPED_TRACE(name);
  const auto reply_to = [](std::uint32_t request, int by) {
    return std::uint64_t{request} * 1000 + static_cast<std::uint64_t>(by);
  };
  for (const std::size_t window : {1, 64, 0}) {  // 0 is the default size
    request_reply<Engine, std::uint32_t, std::uint64_t> exchange(
        team, {.engine = engine, .window_items = window, .combine_entries = combine_entries});
    // few requests with a window of 1, which is slow
    const std::size_t many = window == 1 ? 20 : 60 * static_cast<std::size_t>(team.rank() + 1);
    for (const std::size_t n : {std::size_t{0}, many}) {
      random_stream random(n + window, static_cast<std::uint64_t>(team.rank()));
      std::vector<addressed<std::uint32_t>> requests;
      for (std::size_t i = 0; i < n; ++i)
        requests.push_back({static_cast<int>(random.below(static_cast<std::uint64_t>(team.size()))),
                            static_cast<std::uint32_t>(random.below(20))});
      std::size_t replied = 0, received = 0;
      const std::uint64_t combined_before = exchange.combined();
      const auto make_request = [&](std::size_t i) { return requests[i]; };
      const auto make_reply = [&](int, std::uint32_t request) {
        ++replied;
        return reply_to(request, team.rank());
      };
      exchange(n, make_request, make_reply, [&](std::size_t i, std::uint64_t reply) {
        ASSERT_EQ(i, received++);
        ASSERT_EQ(reply, reply_to(requests[i].item, requests[i].rank)) << "request " << i;
      });
      EXPECT_EQ(received, n);
      std::vector<int> seen(n);
      exchange.template operator()<reply_order::arrived>(
          n, make_request, make_reply, [&](std::size_t i, std::uint64_t reply) {
            ASSERT_LT(i, n);
            ++seen[i];
            ASSERT_EQ(reply, reply_to(requests[i].item, requests[i].rank)) << "request " << i;
          });
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(n));
      // Each request was replied to once, except for combined ones.
      const auto sum = [&](std::size_t mine) {
        return team.allreduce_value(static_cast<std::int64_t>(mine), reduction::sum);
      };
      EXPECT_EQ(sum(replied), sum(2 * n - (exchange.combined() - combined_before)));
    }
    const bool some_were_combined =
        team.allreduce_value(static_cast<std::int64_t>(exchange.combined()), reduction::sum) > 0;
    EXPECT_EQ(some_were_combined, combine_entries > 0 && window != 1);
  }
}

TEST(RequestReply, calls_may_have_more_requests_than_expected) {
  spmd([](team& team) {
    const engine_options engine{.buffer_items = 64, .hops = 2};
    request_reply<conveyor, std::uint32_t, std::uint64_t> exchange(
        team, {.engine = engine, .expected_requests = 1});
    constexpr std::size_t n = 9000;  // more than the window
    std::uint64_t sum = 0;
    exchange.operator()<reply_order::arrived>(
        n,
        [&](std::size_t i) {
          return addressed<std::uint32_t>{static_cast<int>(i) % team.size(),
                                          static_cast<std::uint32_t>(i)};
        },
        [](int, std::uint32_t request) { return std::uint64_t{2} * request; },
        [&](std::size_t i, std::uint64_t reply) {
          ASSERT_EQ(reply, 2 * i);
          sum += reply;
        });
    EXPECT_EQ(sum, n * (n - 1));
  });
}

// How many messages of a call were not full, beyond one per link. `before`: stats() of both engines
// before the call.
std::uint64_t early_messages(const conveyor& engine, const engine_stats& before) {
  std::uint64_t partial = 0;
  const engine_stats stats = engine.stats();
  for (std::size_t h = 0; h < stats.hops.size(); ++h)
    partial += stats.hops[h].partial_messages - before.hops[h].partial_messages;
  return partial - std::min<std::uint64_t>(partial, engine.link_count());
}

TEST(RequestReply, buffers_leave_full_or_last_if_no_rank_waits_for_replies) {
  spmd([](team& team) {
    for (const int hops : {1, 2, 3}) {
      const engine_options engine{.buffer_items = 16, .hops = hops, .group_ranks = 2};
      request_reply<conveyor, std::uint32_t, std::uint64_t> exchange(team, {.engine = engine});
      const auto size = static_cast<std::size_t>(team.size());
      for (int call = 0; call < 2; ++call) {
        const engine_stats requests = exchange.requests().stats(),
                           replies = exchange.replies().stats();
        std::size_t received = 0;
        const std::size_t n = 40 * size;  // fewer than the window, and than a ring, to each rank
        exchange(
            n,
            [&](std::size_t i) {
              return addressed<std::uint32_t>{static_cast<int>((i + i / size) % size), 1};
            },
            [](int, std::uint32_t request) { return std::uint64_t{request}; },
            [&](std::size_t, std::uint64_t reply) { received += reply; });
        EXPECT_EQ(received, n);
        EXPECT_EQ(early_messages(exchange.requests(), requests), 0u) << hops << " hops";
        EXPECT_EQ(early_messages(exchange.replies(), replies), 0u) << hops << " hops";
      }
    }
  });
}

// A rank that has asked one rank often cannot ask it again before a reply comes. Its requests have
// left in full buffers, but are in partial ones on their way.
TEST(RequestReply, a_rank_that_waits_gets_replies_although_other_ranks_do_not_wait) {
  spmd([](team& team) {
    const auto size = static_cast<std::size_t>(team.size());
    for (const int hops : {1, 2, 3})
      for (const std::size_t buffer_items : {7, 24, 50})
        for (const std::size_t target : {std::size_t{0}, size / 2, size - 1}) {
          const engine_options engine{.buffer_items = buffer_items, .hops = hops, .group_ranks = 2};
          request_reply<conveyor, std::uint32_t, std::uint64_t> exchange(team, {.engine = engine});
          const std::size_t n = team.rank() == 0 ? 1000 : 0;
          std::uint64_t sum = 0;
          exchange.operator()<reply_order::arrived>(
              n,
              [&](std::size_t i) {
                const std::size_t rank = i % 9 == 0 ? i / 9 % size : target;
                return addressed<std::uint32_t>{static_cast<int>(rank),
                                                static_cast<std::uint32_t>(i)};
              },
              [](int, std::uint32_t request) { return std::uint64_t{2} * request; },
              [&](std::size_t i, std::uint64_t reply) {
                EXPECT_EQ(reply, 2 * i);
                sum += i;
              });
          EXPECT_EQ(2 * sum, n * (n - std::min<std::size_t>(n, 1)));
        }
  });
}

TEST(RequestReply, each_reply_arrives_once_in_order_or_with_its_number) {
  struct sizes {
    std::size_t combine, buffer_items;
  };
  spmd([](team& team) {
    // Large buffers take many items at once.
    for (const auto [combine, buffer_items] : {sizes{0, 1}, sizes{0, 150}, sizes{16, 13}}) {
      const engine_options options{.buffer_items = buffer_items};
      check_requests<exstack2>(team, "exstack2", options, combine);
      for (const int hops : {2, 3}) {
        engine_options with_hops = options;
        with_hops.hops = hops;
        check_requests<conveyor>(team, "conveyor", with_hops, combine);
        if (hops < 3) continue;
        with_hops.one_stream = true;  // as an aggregator on more ranks
        check_requests<conveyor>(team, "conveyor of one stream", with_hops, combine);
      }
      check_requests<aggregator>(team, "aggregator", options, combine);
    }
  });
}

struct addition {
  std::uint32_t bin, amount;
};
struct add_up {
  [[nodiscard]] std::uint64_t key(const addition& addition) const { return addition.bin; }
  void combine(addition& into, const addition& more) const { into.amount += more.amount; }
};

TEST(Combining, gives_the_same_sums_with_fewer_items) {
  spmd([](team& team) {
    testing::with_every_engine(
        team, {.item_bytes = sizeof(addition), .buffer_items = 7},
        [&](auto& engine, const std::string& name) {
          recent_items recent = recent_items_for(engine);
          combining<std::remove_reference_t<decltype(engine)>, addition, add_up> adds(engine,
                                                                                      recent);
          for (int epoch = 0; epoch < 2; ++epoch) {
            const std::uint64_t bins = 20, n = 500, before = adds.combined();
            std::vector<std::int64_t> expected(bins), bin(bins);
            std::int64_t items = 0;
            random_stream random(static_cast<std::uint64_t>(epoch),
                                 static_cast<std::uint64_t>(team.rank()));
            std::vector<addressed<addition>> additions;
            for (std::uint64_t i = 0; i < n; ++i)
              additions.push_back(
                  {static_cast<int>(random.below(static_cast<std::uint64_t>(team.size()))),
                   {static_cast<std::uint32_t>(random.below(bins)),
                    1 + static_cast<std::uint32_t>(random.below(9))}});
            deliver<addition>(
                adds, n, [&](std::size_t i) { return additions[i]; },
                [&](int, const addition& arrived) {
                  bin[arrived.bin] += arrived.amount;
                  ++items;
                });
            // The reference: the items of all ranks, added bin by bin, for each destination.
            for (int rank = 0; rank < team.size(); ++rank) {
              std::vector<std::int64_t> sums(bins);
              for (const auto& pushed : additions)
                if (pushed.rank == rank) sums[pushed.item.bin] += pushed.item.amount;
              team.allreduce(sums, reduction::sum);
              if (rank == team.rank()) expected = sums;
            }
            EXPECT_EQ(bin, expected) << name;
            EXPECT_EQ(
                team.allreduce_value(items, reduction::sum),
                team.allreduce_value(static_cast<std::int64_t>(n - (adds.combined() - before)),
                                     reduction::sum));
            EXPECT_GT(adds.combined(), before);
          }
        });
  });
}

}  // namespace
}  // namespace longshore

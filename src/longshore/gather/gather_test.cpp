// Every strategy of gather on every distribution. The reference: element i is a function of i.
#include <longshore/core/error.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/gather/index_patterns_test.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace longshore {
namespace {

using testing::spmd;

// Elements of several sizes. Elements of different indices differ.
template <class T>
T element(std::uint64_t index) {
  if constexpr (std::is_same_v<T, std::array<char, 3>>)
    return {static_cast<char>(index), static_cast<char>(index >> 8),
            static_cast<char>(index >> 16)};
  else if constexpr (std::is_same_v<T, std::array<double, 5>>)
    return {static_cast<double>(index), 1, 2, -static_cast<double>(index), 5};
  else
    return static_cast<T>(-static_cast<T>(index) - 1);
}

template <class Distribution, class T>
void fill(dist_array<T, Distribution>& table) {
  testing::fill_table(table, element<T>);
}

template <class Table>
std::vector<gather_strategy> usable(const Table& table) {
  return testing::usable_strategies(table.team(), table.is_all_direct(), why_not);
}

template <class T>
std::vector<T> elements(const std::vector<std::int64_t>& indices) {
  std::vector<T> values;
  for (const auto index : indices) values.push_back(element<T>(static_cast<std::uint64_t>(index)));
  return values;
}

// The first position at which two vectors of equal length differ, or their length.
template <class T>
std::ptrdiff_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  return std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
}

template <class T, class Distribution>
void check_gather(team& team, std::uint64_t n, Distribution distribution) {
  dist_array<T, Distribution> table(team, n, distribution);
  fill(table);
  std::size_t gathered = 0;
  for (const auto strategy : usable(table))
    for (const std::size_t buffer_items : {n == 5 ? 1 : 20, 1024}) {
      if (buffer_items != 1024 &&
          (strategy == gather_strategy::agp || strategy == gather_strategy::direct))
        continue;
      const int hops = strategy == gather_strategy::conveyor ? (buffer_items == 1024 ? 2 : 3) : 0;
      gather_plan plan(table, {.strategy = strategy, .buffer_items = buffer_items, .hops = hops});
      for (const auto& wanted : testing::index_patterns()) {
        const auto indices = wanted.indices({team.rank(), team.size(), n});
        std::vector<T> out(indices.size());
        plan(indices, out);
        ASSERT_EQ(first_difference(out, elements<T>(indices)), std::ssize(out))
            << name_of(strategy) << ", " << Distribution::name << " of " << n << ", "
            << wanted.name;
        EXPECT_EQ(plan.moved().payload_bytes, out.size() * sizeof(T));
        gathered += out.size();
      }
    }
  EXPECT_GT(gathered, 1000u);
  team.barrier();
}

TEST(Gather, every_strategy_reads_the_elements_on_every_distribution) {
  spmd([](team& team) {
    check_gather<std::int64_t>(team, 1, cyclic{});  // on rank 0 in every distribution
    check_gather<std::int64_t>(team, 5, block{});
    check_gather<std::int64_t>(team, 5, block_cyclic{3});
    check_gather<std::int64_t>(team, 300, cyclic{});
    check_gather<std::int64_t>(team, 300, block{});
    check_gather<std::int64_t>(team, 300, block_cyclic{3});
    check_gather<std::int64_t>(team, 300, block_cyclic{4});
  });
}

// Buffers that would be very large are made anew when calls grow, also after a call that failed.
TEST(Gather, buffers_follow_the_size_of_calls) {
  spmd([](team& team) {
    constexpr std::uint64_t n = 5000;
    dist_array<std::int64_t, block> table(team, n);
    fill(table);
    for (const auto strategy :
         {gather_strategy::exstack, gather_strategy::exstack2, gather_strategy::aggregator})
      for (const std::size_t expected : {0, 700}) {
        gather_plan plan(table, {.strategy = strategy,
                                 .buffer_items = std::size_t{1} << 17,
                                 .expected_requests = expected});
        std::uint64_t messages = 0;
        const auto check = [&](std::size_t count, double skew) {
          const auto indices = testing::random_indices({team.rank(), team.size(), n}, count, skew);
          std::vector<std::int64_t> out(indices.size());
          plan(indices, out);
          ASSERT_EQ(first_difference(out, elements<std::int64_t>(indices)), std::ssize(out))
              << name_of(strategy) << ", " << count << " requests";
          messages += plan.moved().messages;
        };
        check(10, 1);
        check(team.rank() == 0 ? 20'000 : 0, 1);
        check(400, 4);
        std::vector<std::int64_t> out(3);
        EXPECT_THROW(plan(std::vector<std::int64_t>{0, n, 1}, out), error);
        check(6000, 4);
        check(0, 1);
        check(20'000, 1);
        std::uint64_t counted = 0;  // statistics include those of former buffers
        const exchange_stats stats = plan.stats();
        for (const auto* const engine : {&stats.requests, &stats.replies})
          for (const auto& hop : engine->hops) counted += hop.messages;
        EXPECT_GE(counted, messages);
        EXPECT_TRUE(messages > 0 || team.size() == 1);
      }
    team.barrier();
  });
}

TEST(Gather, works_for_elements_of_any_size) {
  spmd([](team& team) {
    check_gather<std::array<char, 3>>(team, 500, block{});
    check_gather<std::array<double, 5>>(team, 500, cyclic{});
  });
}

TEST(Gather, non_temporal_stores_give_the_same_values) {
  spmd([](team& team) {
    const auto check_type = [&]<class T>(T, std::uint64_t n) {
      dist_array<T, cyclic> table(team, n);
      fill(table);
      if (table.is_all_direct()) {
        const auto indices = testing::random_indices({team.rank(), team.size(), n}, 1003);
        std::vector<T> out(indices.size());
        const detail::table_view<T, cyclic> parts(table);
        detail::direct_gather<T, cyclic> load(parts);
        load(indices, out, true);
        ASSERT_EQ(first_difference(out, elements<T>(indices)), std::ssize(out));
      }
      team.barrier();
    };
    for (const std::uint64_t n : {100, 200'000}) {
      check_type(std::int64_t{}, n);
      check_type(float{}, n);
      check_type(std::array<char, 3>{}, n);
    }
  });
}

TEST(Gather, reads_tables_larger_than_the_cache) {
  spmd([](team& team) {
    const auto check_table = [&]<class Distribution>(Distribution distribution) {
      dist_array<std::int64_t, Distribution> table(team, 300'001, distribution);
      fill(table);
      for (const auto strategy : usable(table)) {
        const auto indices =
            testing::random_indices({team.rank(), team.size(), table.size()}, 5001);
        std::vector<std::int64_t> out(indices.size());
        gather(table, indices, out, {.strategy = strategy});
        ASSERT_EQ(first_difference(out, elements<std::int64_t>(indices)), std::ssize(out))
            << name_of(strategy);
      }
      team.barrier();
    };
    check_table(cyclic{});
    check_table(block{});
    check_table(block_cyclic{16});
  });
}

TEST(Gather, an_index_out_of_range_is_reported_and_the_plan_can_be_used_again) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 1000);
    fill(table);
    for (const auto strategy : usable(table)) {
      gather_plan plan(table, {.strategy = strategy, .buffer_items = 32});
      const bool collective = plan.strategy() == gather_strategy::exstack;
      testing::expect_index_errors(team, 1000, collective, "gather",
                                   [&](const std::vector<std::int64_t>& indices) {
                                     std::vector<std::int64_t> out(indices.size());
                                     plan(indices, out);
                                   });
      const std::vector<std::int64_t> indices = {999, 0, 17};
      std::vector<std::int64_t> out(3);
      testing::expect_failure(team, collective, {"3 indices", "2 values"}, [&](bool fails) {
        plan(indices, std::span(out).first(fails ? 2 : 3));
      });
      plan(indices, out);
      EXPECT_EQ(out, (std::vector<std::int64_t>{-1000, -1, -18})) << name_of(strategy);
      team.barrier();
    }
  });
}

TEST(Gather, an_index_into_an_empty_table_is_an_error) {
  spmd([](team& team) {
    const dist_array<std::int64_t, block> table(team, 0);
    for (const auto strategy : usable(table)) {
      gather_plan plan(table, {.strategy = strategy});
      plan({}, {});
      const std::vector<std::int64_t> indices = {0};
      std::vector<std::int64_t> out(1);
      testing::expect_failure(team, plan.strategy() == gather_strategy::exstack, {"empty table"},
                              [&](bool fails) {
                                if (fails)
                                  plan(indices, out);
                                else
                                  plan({}, {});
                              });
    }
  });
}

TEST(Gather, a_plan_chooses_the_size_of_buffers_if_none_is_given) {
  spmd([](team& team) {
    const dist_array<std::int64_t, cyclic> table(team, 10);
    for (const auto strategy : {gather_strategy::exstack, gather_strategy::conveyor}) {
      gather_plan plan(table, {.strategy = strategy});
      const std::size_t chosen = plan.choice().buffer_items;
      if (team.nodes().most_ranks_off_host() == 0)
        EXPECT_EQ(chosen, 1024u);
      else
        EXPECT_TRUE(chosen >= 1024 &&
                    chosen <= (strategy == gather_strategy::exstack ? 32768U : 8192U))
            << chosen;
      gather_plan given(table, {.strategy = strategy, .buffer_items = 77});
      EXPECT_EQ(given.choice().buffer_items, 77u);
    }
  });
}

TEST(Gather, impossible_options_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const dist_array<std::int64_t, cyclic> table(team, 10);
    const auto expect = [&](gather_options options, errc code) {
      SCOPED_TRACE(name_of(options.strategy));
      testing::expect_error(code, [&] { gather_plan plan(table, options); });
    };
    expect({.strategy = gather_strategy::conveyor, .hops = 4}, errc::usage);
    if (team.nodes().node_count() > 1)
      expect({.strategy = gather_strategy::direct}, errc::unsupported);
  });
}

TEST(Gather, counts_messages_between_nodes_and_no_direct_loads) {
  spmd([](team& team) {
    dist_array<std::int64_t, block> table(team, 100 * static_cast<std::uint64_t>(team.size()));
    fill(table);
    // Each rank reads 50 times from the rank after it.
    const int peer = (team.rank() + 1) % team.size();
    const std::vector<std::int64_t> indices(
        50, static_cast<std::int64_t>(table.map().first_index(peer)));
    std::vector<std::int64_t> out(50);
    const bool remote = !team.nodes().is_local(peer);

    gather_plan one_by_one(table, {.strategy = gather_strategy::agp});
    one_by_one(indices, out);
    EXPECT_EQ(one_by_one.moved().messages, remote ? 50u : 0u);
    EXPECT_EQ(one_by_one.moved().offnode_bytes, remote ? 50u * 16 : 0u);

    gather_plan aggregated(table, {.strategy = gather_strategy::exstack, .buffer_items = 50});
    aggregated(indices, out);
    const auto others = static_cast<std::uint64_t>(team.size() - 1);
    EXPECT_EQ(aggregated.moved().messages, 2 * others);  // one round
    EXPECT_EQ(aggregated.moved().payload_bytes, 50u * 8);
    EXPECT_EQ(aggregated.moved().wire_bytes, others == 0 ? 0 : 2 * others + 50 * (4 + 8));
  });
}

TEST(Gather, stats_agree_with_moved_for_every_strategy) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 50 * static_cast<std::uint64_t>(team.size()));
    fill(table);
    const auto indices = testing::random_indices({team.rank(), team.size(), table.size()}, 400);
    std::vector<std::int64_t> out(indices.size());
    std::uint64_t for_others = 0;
    for (const auto index : indices)
      for_others += table.map().owner_offset(static_cast<std::uint64_t>(index)).rank != team.rank();
    EXPECT_TRUE(for_others > 100 || team.size() == 1);
    const auto sum = [&](std::uint64_t mine) {
      return team.allreduce_value(static_cast<std::int64_t>(mine), reduction::sum);
    };
    using enum gather_strategy;
    for (const auto strategy : {exstack, exstack2, conveyor, aggregator, agp}) {
      SCOPED_TRACE(name_of(strategy));
      gather_plan plan(table, {.strategy = strategy, .buffer_items = 16});
      plan(indices, out);
      const exchange_stats first = plan.stats();
      const traffic requests = first.requests.sent(), replies = first.replies.sent();
      if (strategy == agp) {
        EXPECT_TRUE(first.requests.hops.empty());
        continue;
      }
      EXPECT_EQ(requests.messages + replies.messages, plan.moved().messages);
      EXPECT_EQ(requests.wire_bytes + replies.wire_bytes, plan.moved().wire_bytes);
      EXPECT_EQ(requests.offnode_bytes + replies.offnode_bytes, plan.moved().offnode_bytes);
      EXPECT_EQ(plan.moved().messages == 0, team.size() == 1)
          << "buffers to the own rank are no messages";
      if (first.requests.hops.size() == 1) {
        EXPECT_EQ(first.requests.hops[0].payload_bytes, 4 * for_others);
        EXPECT_EQ(sum(first.replies.hops[0].payload_bytes), 8 * sum(for_others));
      }
      for (const auto* stats : {&first.requests, &first.replies})
        for (const auto& hop : stats->hops) {
          EXPECT_LE(hop.mean_fill(), 1);
          EXPECT_LE(hop.partial_messages, hop.messages);
        }
      // The difference of two statistics is the second call.
      plan(indices, out);
      const exchange_stats second = plan.stats() - first;
      EXPECT_EQ(second.requests.sent().wire_bytes + second.replies.sent().wire_bytes,
                plan.moved().wire_bytes);
      EXPECT_GE(second.requests.seconds_without_slot + second.replies.seconds_without_slot, 0);
      EXPECT_LT(second.requests.seconds_nothing_arrived + second.replies.seconds_nothing_arrived,
                60);
    }
    team.barrier();
  });
}

TEST(Gather, the_free_function_takes_containers) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 20);
    fill(table);
    const std::vector<std::int64_t> indices = {19, 3};
    std::vector<std::int64_t> out(2);
    gather(table, indices, out);
    EXPECT_EQ(out, (std::vector<std::int64_t>{-20, -4}));
    team.barrier();
  });
}

TEST(Gather, ranks_that_pass_other_options_are_refused_on_all_ranks) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    const bool odd = team.rank() == team.size() - 1;
    dist_array<std::int64_t> table(team, 100);
    const auto expect = [&](const std::string& first, const std::string& other,
                            const gather_options& options) {
      try {
        gather_plan plan(table, options);
        ADD_FAILURE() << "no error: " << first;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::usage);
        const std::string text = e.what();
        EXPECT_NE(text.find("rank 0 passes " + first), std::string::npos) << text;
        EXPECT_NE(text.find("passes " + other + ": all ranks must"), std::string::npos) << text;
      }
    };
    expect("strategy agp", "strategy exstack",
           {.strategy = odd ? gather_strategy::exstack : gather_strategy::agp});
    expect("buffer_items 0", "buffer_items 64",
           {.strategy = gather_strategy::exstack, .buffer_items = odd ? 64u : 0u});
    expect("combine no", "combine yes", {.strategy = gather_strategy::exstack, .combine = odd});
    gather_plan plan(table, {.strategy = gather_strategy::exstack});
  });
}

}  // namespace
}  // namespace longshore

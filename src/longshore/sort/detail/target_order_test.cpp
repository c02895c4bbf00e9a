// Tests the orders of targets, the names of exchanges and orders, and which combinations are
// refused.
#include <longshore/core/error.hpp>
#include <longshore/sort/detail/exchanges.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace longshore::detail {
namespace {

// Nodes of `per_node` ranks; the last node may have fewer.
node_map nodes_of(int rank, int ranks, int per_node) {
  std::vector<int> host_of;
  for (int r = 0; r < ranks; ++r) host_of.push_back(r / per_node);
  return {host_of, rank, 0};
}

std::vector<int> targets(exchange_order order, int rank, int ranks, std::uint64_t seed,
                         int per_node = 4) {
  return targets_of(order, rank, ranks, nodes_of(rank, ranks, per_node), seed);
}

TEST(ExchangeOrder, every_order_has_each_other_rank_once) {
  for (const auto& known : exchange_orders)
    for (int ranks = 1; ranks <= 17; ++ranks)
      for (int rank = 0; rank < ranks; ++rank) {
        const auto others = targets(known.order, rank, ranks, 3);
        EXPECT_EQ(others.size(), static_cast<std::size_t>(ranks - 1)) << known.name;
        EXPECT_EQ(std::set<int>(others.begin(), others.end()).size(), others.size()) << known.name;
        for (const int target : others)
          EXPECT_TRUE(target >= 0 && target < ranks && target != rank) << known.name;
      }
}

// The largest number of ranks with the same target in the same step.
std::size_t max_senders(exchange_order order, int ranks) {
  std::size_t max_count = 0;
  for (int step = 0; step < ranks - 1; ++step) {
    std::multiset<int> targeted;
    for (int rank = 0; rank < ranks; ++rank) targeted.insert(targets(order, rank, ranks, 11)[step]);
    for (const int target : targeted) max_count = std::max(max_count, targeted.count(target));
  }
  return max_count;
}

TEST(ExchangeOrder,
     ranks_have_different_targets_in_each_step_except_with_incast_and_random_private) {
  for (const int ranks : {2, 3, 8, 13}) {
    EXPECT_EQ(max_senders(exchange_order::round_robin, ranks), 1u);
    EXPECT_EQ(max_senders(exchange_order::random, ranks), 1u);
  }
  EXPECT_EQ(max_senders(exchange_order::xor_, 8), 1u);
  EXPECT_EQ(max_senders(exchange_order::incast, 8), 7u);
  for (const int ranks : {4, 8, 12}) EXPECT_EQ(max_senders(exchange_order::node_aware, ranks), 1u);
  EXPECT_GT(max_senders(exchange_order::random_private, 13), 1u);
}

TEST(ExchangeOrder, node_aware_has_the_own_node_last) {
  for (int rank = 0; rank < 12; ++rank) {
    const auto nodes = nodes_of(rank, 12, 4);
    const auto others = targets(exchange_order::node_aware, rank, 12, 1);
    for (std::size_t step = 0; step < others.size(); ++step)
      EXPECT_EQ(nodes.is_local(others[step]), step >= 8) << rank;
  }
}

TEST(ExchangeOrder, random_orders_depend_on_the_seed) {
  for (const auto order : {exchange_order::random, exchange_order::random_private}) {
    EXPECT_NE(targets(order, 0, 20, 1), targets(order, 0, 20, 2));
    EXPECT_NE(targets(order, 0, 20, 1), targets(exchange_order::round_robin, 0, 20, 1));
  }
}

TEST(BucketStrategy, names_are_parsed_and_unknown_names_are_refused) {
  for (const auto& known : exchange_strategies) {
    EXPECT_EQ(exchange_strategy_of(known.name), known.exchange);
    EXPECT_EQ(name_of(known.exchange), known.name);
  }
  for (const auto& known : exchange_orders) {
    EXPECT_EQ(exchange_order_of(known.name), known.order);
    EXPECT_EQ(name_of(known.order), known.name);
  }
  for (const auto call : {+[] { static_cast<void>(exchange_strategy_of("putt")); },
                          +[] { static_cast<void>(exchange_order_of("putt")); }}) {
    try {
      call();
      FAIL();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_NE(std::string(e.what()).find("'putt'"), std::string::npos) << e.what();
    }
  }
}

TEST(BucketStrategy, unusable_combinations_are_refused_with_a_reason) {
  const exchange_layout threads{false, 1, 4}, one_node{true, 1, 4}, nodes{true, 3, 4},
      single_ranks{true, 3, 1};
  for (const auto& known : exchange_strategies) {
    const bool uses_order = known.exchange != exchange_strategy::alltoallv &&
                            known.exchange != exchange_strategy::direct &&
                            known.exchange != exchange_strategy::two_hop &&
                            known.exchange != exchange_strategy::automatic;
    for (const auto& order : exchange_orders) {
      const auto reason = why_not(known.exchange, order.order, nodes);
      EXPECT_EQ(reason.has_value(), !uses_order && order.order != exchange_order::round_robin)
          << known.name << " " << order.name;
      if (reason) {
        EXPECT_NE(reason->find(known.name), std::string::npos) << *reason;
      }
    }
    const auto usual = exchange_order::round_robin;
    EXPECT_EQ(
        why_not(known.exchange, usual, threads).has_value(),
        known.exchange == exchange_strategy::rma || known.exchange == exchange_strategy::two_hop);
    EXPECT_EQ(why_not(known.exchange, usual, one_node).has_value(),
              known.exchange == exchange_strategy::two_hop);
    EXPECT_EQ(why_not(known.exchange, usual, single_ranks).has_value(),
              known.exchange == exchange_strategy::two_hop);
  }
  EXPECT_TRUE(why_not(exchange_strategy::put, exchange_order::node_aware, one_node));
}

}  // namespace
}  // namespace longshore::detail

// Tests the orders of targets, the names of exchanges and orders, and which combinations are
// refused.
#include <longshore/core/error.hpp>
#include <longshore/sort/detail/exchanges.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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
  for (const auto order : values_of<exchange_order>())
    for (int ranks = 1; ranks <= 17; ++ranks)
      for (int rank = 0; rank < ranks; ++rank) {
        const auto others = targets(order, rank, ranks, 3);
        EXPECT_EQ(others.size(), static_cast<std::size_t>(ranks - 1)) << name_of(order);
        EXPECT_EQ(std::set<int>(others.begin(), others.end()).size(), others.size())
            << name_of(order);
        for (const int target : others)
          EXPECT_TRUE(target >= 0 && target < ranks && target != rank) << name_of(order);
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
  for (const auto exchange : values_of<exchange_strategy>())
    EXPECT_EQ(from_name<exchange_strategy>(name_of(exchange)), exchange);
  for (const auto order : values_of<exchange_order>())
    EXPECT_EQ(from_name<exchange_order>(name_of(order)), order);
  for (const auto call : {+[] { static_cast<void>(from_name<exchange_strategy>("putt")); },
                          +[] { static_cast<void>(from_name<exchange_order>("putt")); }}) {
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
  for (const auto exchange : values_of<exchange_strategy>()) {
    const bool uses_order =
        exchange != exchange_strategy::alltoallv && exchange != exchange_strategy::direct &&
        exchange != exchange_strategy::two_hop && exchange != exchange_strategy::automatic;
    for (const auto order : values_of<exchange_order>()) {
      const auto reason = why_not(exchange, order, nodes);
      EXPECT_EQ(reason.has_value(), !uses_order && order != exchange_order::round_robin)
          << name_of(exchange) << " " << name_of(order);
      if (reason) {
        EXPECT_NE(reason->find(name_of(exchange)), std::string::npos) << *reason;
      }
    }
    const auto usual = exchange_order::round_robin;
    EXPECT_EQ(why_not(exchange, usual, threads).has_value(),
              exchange == exchange_strategy::rma || exchange == exchange_strategy::two_hop);
    EXPECT_EQ(why_not(exchange, usual, one_node).has_value(),
              exchange == exchange_strategy::two_hop);
    EXPECT_EQ(why_not(exchange, usual, single_ranks).has_value(),
              exchange == exchange_strategy::two_hop);
  }
  EXPECT_TRUE(why_not(exchange_strategy::put, exchange_order::node_aware, one_node));
}

}  // namespace
}  // namespace longshore::detail

#include <longshore/bucket/order.hpp>
#include <longshore/core/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace longshore::bucketing {
namespace {

TEST(ExchangeOrder, every_order_serves_all_others_once) {
  for (const auto& known : exchange_orders)
    for (int ranks = 1; ranks <= 17; ++ranks)
      for (int rank = 0; rank < ranks; ++rank) {
        const auto targets = targets_of(known.order, rank, ranks, 3);
        EXPECT_EQ(targets.size(), static_cast<std::size_t>(ranks - 1)) << known.name;
        EXPECT_EQ(std::set<int>(targets.begin(), targets.end()).size(), targets.size()) << known.name;
        for (const int target : targets) EXPECT_TRUE(target >= 0 && target < ranks && target != rank) << known.name;
      }
}

// How many ranks aim at the most wanted target of a round, over all rounds.
std::size_t most_at_one(exchange_order order, int ranks) {
  std::size_t most = 0;
  for (int round = 0; round < ranks - 1; ++round) {
    std::multiset<int> wanted;
    for (int rank = 0; rank < ranks; ++rank) wanted.insert(targets_of(order, rank, ranks, 11)[round]);
    for (const int target : wanted) most = std::max(most, wanted.count(target));
  }
  return most;
}

TEST(ExchangeOrder, ranks_of_a_round_aim_at_different_targets_except_by_incast) {
  for (const int ranks : {2, 3, 8, 13}) {
    EXPECT_EQ(most_at_one(exchange_order::round_robin, ranks), 1u);
    EXPECT_EQ(most_at_one(exchange_order::random, ranks), 1u);
  }
  EXPECT_EQ(most_at_one(exchange_order::xor_, 8), 1u);
  EXPECT_EQ(most_at_one(exchange_order::incast, 8), 7u);
}

TEST(ExchangeOrder, random_depends_on_the_seed) {
  EXPECT_NE(targets_of(exchange_order::random, 0, 20, 1), targets_of(exchange_order::random, 0, 20, 2));
  EXPECT_NE(targets_of(exchange_order::random, 0, 20, 1), targets_of(exchange_order::round_robin, 0, 20, 1));
}

TEST(BucketStrategy, every_name_leads_back_and_unknown_ones_are_answered_with_a_list) {
  for (const auto& known : bucket_exchanges) {
    EXPECT_EQ(bucket_exchange_of(known.name), known.exchange);
    EXPECT_EQ(name_of(known.exchange), known.name);
  }
  for (const auto& known : exchange_orders) {
    EXPECT_EQ(exchange_order_of(known.name), known.order);
    EXPECT_EQ(name_of(known.order), known.name);
  }
  for (const auto call :
       {+[] { static_cast<void>(bucket_exchange_of("putt")); }, +[] { static_cast<void>(exchange_order_of("putt")); }}) {
    try {
      call();
      FAIL();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_NE(std::string(e.what()).find("'putt'"), std::string::npos) << e.what();
    }
  }
}

TEST(BucketStrategy, what_cannot_be_used_says_why) {
  for (const auto& order : exchange_orders) {
    EXPECT_FALSE(why_not(bucket_exchange::put, order.order));
    EXPECT_FALSE(why_not(bucket_exchange::sendrecv, order.order));
    EXPECT_EQ(why_not(bucket_exchange::alltoallv, order.order).has_value(), order.order != exchange_order::round_robin);
    EXPECT_TRUE(why_not(bucket_exchange::rma, order.order));
    EXPECT_TRUE(why_not(bucket_exchange::channel, order.order));
    EXPECT_TRUE(why_not(bucket_exchange::automatic, order.order));
  }
}

}  // namespace
}  // namespace longshore::bucketing

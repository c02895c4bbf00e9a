// The sort over all ranks against std::sort of all keys, and the check of its result against injected faults.
#include <longshore/bucket/bucket_sort.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace longshore {
namespace {

using testing::spmd;

std::vector<bucket_options> usable_options() {
  std::vector<bucket_options> usable;
  for (const auto& exchange : bucket_exchanges)
    for (const auto& order : exchange_orders)
      if (!why_not(exchange.exchange, order.order)) usable.push_back({.exchange = exchange.exchange, .order = order.order});
  return usable;
}

constexpr std::uint64_t max_key = 1000;

template <class Key>
struct named_keys {
  const char* name;
  std::function<std::vector<Key>(int rank, int ranks)> of;
};

template <class Key>
std::vector<Key> random_keys(int rank, std::size_t count, std::uint64_t below) {
  random_stream random(17, static_cast<std::uint64_t>(rank));
  std::vector<Key> keys(count);
  for (auto& key : keys) key = static_cast<Key>(random.below(below));
  return keys;
}

template <class Key>
std::vector<named_keys<Key>> key_sets() {
  return {
      {"none", [](int, int) { return std::vector<Key>{}; }},
      {"one key in all", [](int rank, int ranks) { return std::vector<Key>(rank == ranks - 1 ? 1 : 0, 5); }},
      {"only the last rank has any",
       [](int rank, int ranks) { return random_keys<Key>(rank, rank == ranks - 1 ? 500 : 0, 100); }},
      {"all equal", [](int, int) { return std::vector<Key>(333, 99); }},
      {"random, uneven", [](int rank, int) { return random_keys<Key>(rank, 1000 + 101 * static_cast<std::size_t>(rank), 100); }},
      {"all in the last bucket",
       [](int rank, int) {
         auto keys = random_keys<Key>(rank, 700, 5);
         for (auto& key : keys) key = static_cast<Key>(key + 95);
         return keys;
       }},
      {"descending", [](int rank, int) {
         auto keys = random_keys<Key>(rank, 200, 100);
         std::sort(keys.rbegin(), keys.rend());
         return keys;
       }}};
}

// All keys of all ranks, sorted.
template <class Key>
std::vector<Key> oracle(const named_keys<Key>& keys, int ranks) {
  std::vector<Key> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto of_rank = keys.of(rank, ranks);
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

template <class Key>
void check(team& team, bucket_sorter<Key>& sorter, const named_keys<Key>& keys, const char* exchange) {
  const auto mine = keys.of(team.rank(), team.size());
  const auto expected = oracle(keys, team.size());
  const auto sorted = sorter.sort(mine);
  std::size_t first = 0;
  const auto counts = team.allgather_value(sorted.size());
  for (int rank = 0; rank < team.rank(); ++rank) first += counts[rank];
  ASSERT_LE(first + sorted.size(), expected.size()) << exchange << ", " << keys.name;
  ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin() + static_cast<std::ptrdiff_t>(first)))
      << exchange << ", " << keys.name;
  ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), expected.size());
  const auto faults = check_sorted(team, content_of<Key>(mine), sorted);
  EXPECT_TRUE(faults.none()) << faults.text;
  EXPECT_EQ(sorter.moved().payload_bytes, mine.size() * sizeof(Key));
}

TEST(BucketSort, every_exchange_in_every_order_sorts) {
  spmd([](team& team) {
    const auto options = usable_options();
    EXPECT_EQ(options.size(), 9u);  // put and sendrecv in four orders, alltoallv in one
    bool given = false;
    for (auto option : options) {
      given = !given;
      option.max_key = given ? 100 : 0;  // the range of keys is given, and found, in turn
      const std::string name = std::string(name_of(option.exchange)) + " " + std::string(name_of(option.order));
      bucket_sorter<std::int32_t> sorter(team, option);
      const auto sets = key_sets<std::int32_t>();
      for (const auto& keys : sets) check(team, sorter, keys, name.c_str());
      check(team, sorter, sets.front(), name.c_str());  // with buffers grown
    }
  });
}

TEST(BucketSort, sorts_keys_of_any_integer_type) {
  spmd([](team& team) {
    const auto check_type = [&]<class Key>(Key) {
      bucket_sorter<Key> sorter(team);
      for (const auto& keys : key_sets<Key>()) check(team, sorter, keys, "put");
      const named_keys<Key> extremes{"extremes", [](int rank, int) {
                                       auto keys = random_keys<Key>(rank, 400, 1u << 7);
                                       keys.push_back(std::numeric_limits<Key>::min());
                                       keys.push_back(std::numeric_limits<Key>::max());
                                       return keys;
                                     }};
      check(team, sorter, extremes, "put");
    };
    check_type(std::int8_t{});
    check_type(std::uint16_t{});
    check_type(std::uint32_t{});
    check_type(std::int64_t{});
    check_type(std::uint64_t{});
  });
}

TEST(BucketSort, sorts_more_keys_than_fit_into_the_cache) {
  spmd([](team& team) {
    const named_keys<std::uint32_t> many{"many",
                                         [](int rank, int) { return random_keys<std::uint32_t>(rank, 200'000, 1u << 28); }};
    for (const auto exchange : {bucket_exchange::put, bucket_exchange::sendrecv, bucket_exchange::alltoallv}) {
      bucket_sorter<std::uint32_t> sorter(team, {.exchange = exchange, .max_key = 1u << 28});
      check(team, sorter, many, "many");
      const auto& phases = sorter.phases();
      for (const double seconds : {phases.count, phases.offsets, phases.bucketize, phases.exchange, phases.local_sort})
        EXPECT_GT(seconds, 0);
    }
  });
}

TEST(BucketSort, a_key_out_of_range_is_named_and_the_sorter_survives) {
  spmd([](team& team) {
    bucket_sorter<std::int32_t> sorter(team, {.max_key = max_key});
    for (const std::int32_t bad : {-1, static_cast<std::int32_t>(max_key)}) {
      auto keys = random_keys<std::int32_t>(team.rank(), 300, max_key);
      const bool mine = team.rank() == team.size() - 1;
      if (mine) keys[200] = bad;
      try {
        static_cast<void>(sorter.sort(keys));
        ADD_FAILURE();
      } catch (const error& e) {
        EXPECT_EQ(e.code(), mine ? errc::usage : errc::peer_failed);
        if (mine) {
          EXPECT_NE(std::string(e.what()).find("key " + std::to_string(bad) + " at position 200"), std::string::npos) << e.what();
        }
      }
    }
    const named_keys<std::int32_t> good{"good", [](int rank, int) { return random_keys<std::int32_t>(rank, 300, max_key); }};
    check(team, sorter, good, "put");
  });
}

TEST(BucketSort, what_makes_no_sense_is_refused_on_all_ranks) {
  spmd([](team& team) {
    EXPECT_THROW(bucket_sorter<std::int8_t>(team, {.max_key = 129}), error);
    EXPECT_THROW(bucket_sorter<int>(team, {.exchange = bucket_exchange::rma}), error);
    EXPECT_THROW(bucket_sorter<int>(team, {.exchange = bucket_exchange::alltoallv, .order = exchange_order::xor_}), error);
  });
}

TEST(BucketSort, counts_what_it_sends) {
  spmd([](team& team) {
    // One key of every bucket: each rank sends one to each.
    std::vector<std::uint32_t> keys;
    for (int rank = 0; rank < team.size(); ++rank) keys.push_back(static_cast<std::uint32_t>(rank));
    const auto others = static_cast<std::uint64_t>(team.size() - 1);
    for (const auto exchange : {bucket_exchange::put, bucket_exchange::alltoallv, bucket_exchange::sendrecv}) {
      bucket_sorter<std::uint32_t> sorter(team, {.exchange = exchange, .max_key = static_cast<std::uint64_t>(team.size())});
      static_cast<void>(sorter.sort(keys));
      const std::uint64_t claims = exchange == bucket_exchange::put ? 1 : 0;  // of 8 bytes
      EXPECT_EQ(sorter.moved().messages, others * (2 + claims));
      EXPECT_EQ(sorter.moved().wire_bytes, others * (8 + 4 + 8 * claims));
      const auto remote = static_cast<std::uint64_t>(team.size() - team.nodes().my_rank_count());
      EXPECT_EQ(sorter.moved().offnode_bytes, remote * (8 + 4 + 8 * claims));
    }
  });
}

TEST(BucketSort, the_free_function_returns_a_part_of_its_own) {
  spmd([](team& team) {
    const auto keys = random_keys<std::uint32_t>(team.rank(), 500, max_key);
    const auto mine = bucket_sort(team, keys);
    EXPECT_TRUE(check_sorted<std::uint32_t>(team, content_of<std::uint32_t>(keys), mine).none());
  });
}

// A right result, spoiled on the last rank; what the check says of it.
sort_faults faults_after(team& team, const std::function<void(std::vector<std::uint32_t>&)>& spoil) {
  const auto keys = random_keys<std::uint32_t>(team.rank(), 500, max_key);
  auto mine = bucket_sort(team, keys);
  if (team.rank() == team.size() - 1) {
    EXPECT_GT(mine.size(), 100u);
    spoil(mine);
  }
  return check_sorted<std::uint32_t>(team, content_of<std::uint32_t>(keys), mine);
}

TEST(SortCheck, finds_nothing_in_a_right_result) {
  spmd([](team& team) { EXPECT_EQ(faults_after(team, [](auto&) {}).text, ""); });
}

TEST(SortCheck, names_a_lost_key) {
  spmd([](team& team) {
    const auto faults = faults_after(team, [](auto& keys) { keys.erase(keys.begin() + 50); });
    EXPECT_TRUE(faults.lost && !faults.doubled && !faults.changed && !faults.order_within && !faults.order_across) << faults.text;
  });
}

TEST(SortCheck, names_a_doubled_key) {
  spmd([](team& team) {
    const auto faults = faults_after(team, [](auto& keys) { keys.insert(keys.begin() + 50, keys[50]); });
    EXPECT_TRUE(!faults.lost && faults.doubled && !faults.changed && !faults.order_within && !faults.order_across) << faults.text;
  });
}

TEST(SortCheck, names_a_changed_key) {
  spmd([](team& team) {
    // Two keys made equal: the order stays right, the number too.
    const auto faults = faults_after(team, [](auto& keys) {
      const auto change = std::adjacent_find(keys.begin(), keys.end(), std::not_equal_to<>());
      ASSERT_NE(change, keys.end());
      *change = *(change + 1);
    });
    EXPECT_TRUE(!faults.lost && !faults.doubled && faults.changed && !faults.order_within && !faults.order_across) << faults.text;
  });
}

TEST(SortCheck, names_two_neighbours_that_changed_places) {
  spmd([](team& team) {
    const auto faults = faults_after(team, [](auto& keys) {
      const auto change = std::adjacent_find(keys.begin(), keys.end(), std::not_equal_to<>());
      ASSERT_NE(change, keys.end());
      std::swap(*change, *(change + 1));
    });
    EXPECT_TRUE(!faults.lost && !faults.doubled && !faults.changed && faults.order_within && !faults.order_across) << faults.text;
  });
}

TEST(SortCheck, names_a_key_that_came_to_a_later_rank) {
  spmd([](team& team) {
    const auto faults = faults_after(team, [](auto& keys) { keys.front() = 0; });
    EXPECT_EQ(faults.order_across, team.size() > 1) << faults.text;
    EXPECT_FALSE(faults.order_within);
  });
}

}  // namespace
}  // namespace longshore

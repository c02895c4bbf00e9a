// Sorts of keys of several types and of records; stable sorts; sampled splitters; several tasks;
// and the exchange without the local sort.
#include <longshore/sort/bucket_sort.hpp>
#include <longshore/sort/key_sets_test.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace longshore {
namespace {

using testing::random_keys;
using testing::spmd;

// The items of all ranks, in rank order.
template <class T>
std::vector<T> gathered(team& team, const std::vector<T>& items) {
  const auto counts = team.allgather_value(items.size());
  const std::size_t max_count = *std::max_element(counts.begin(), counts.end());
  std::vector<T> padded(items), all_padded(max_count * counts.size());
  padded.resize(max_count);
  team.allgather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all_padded)));
  std::vector<T> joined;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const auto begin = all_padded.begin() + static_cast<std::ptrdiff_t>(rank * max_count);
    joined.insert(joined.end(), begin, begin + static_cast<std::ptrdiff_t>(counts[rank]));
  }
  return joined;
}

template <class Key>
void check_keys(team& team, std::vector<Key> keys, const bucket_options& options = {}) {
  const auto before = gathered(team, keys);
  std::vector<Key> expected = before;
  std::sort(expected.begin(), expected.end(),
            [](Key a, Key b) { return detail::radix_key_of(a) < detail::radix_key_of(b); });
  const auto sorted = gathered(team, bucket_sort(team, keys, options));
  ASSERT_EQ(sorted.size(), expected.size());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    ASSERT_EQ(detail::radix_key_of(sorted[i]), detail::radix_key_of(expected[i]))
        << i << " of " << sizeof(Key) << " bytes";
}

TEST(BucketItems, sorts_integers_of_several_types_with_their_extremes) {
  spmd([](team& team) {
    const auto check_type = [&]<class Key>(Key) {
      auto keys = random_keys<Key>(team.rank(), 300, 1u << 7);
      keys.push_back(std::numeric_limits<Key>::min());
      keys.push_back(std::numeric_limits<Key>::max());
      check_keys(team, keys);
    };
    check_type(std::int8_t{});
    check_type(std::uint16_t{});
    check_type(std::int64_t{});
    check_type(std::uint64_t{});
  });
}

TEST(BucketItems, sorts_floating_keys_in_the_total_order_of_ieee_754) {
  spmd([](team& team) {
    random_stream random(5, static_cast<std::uint64_t>(team.rank()));
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    std::vector<double> keys = {0.0,
                                -0.0,
                                nan,
                                std::copysign(nan, -1.0),
                                inf,
                                -inf,
                                std::numeric_limits<double>::denorm_min()};
    for (int i = 0; i < 500; ++i)
      keys.push_back((random.uniform() - 0.5) *
                     std::exp2(static_cast<double>(random.below(600)) - 300));
    check_keys(team, keys);
    check_keys(team, keys, {.splitters = bucket_splitters::sampled});
    std::vector<double> ordinary(keys.begin() + 7, keys.end());
    const auto part = bucket_sort(team, ordinary);
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
  });
}

// One rank receives more items than fit into a part of the local sort, and nearly all have keys of
// one part. The sort has to split this part again.
TEST(BucketItems, sorts_16_byte_records_that_nearly_all_belong_to_one_part) {
  struct wide_record {
    std::uint64_t key, origin;
  };
  spmd([](team& team) {
    const std::size_t count = 80'000 / static_cast<std::size_t>(team.size());
    random_stream random(3, static_cast<std::uint64_t>(team.rank()));
    std::vector<wide_record> records(count);
    // First all keys are equal, then nearly all lie in a small part of the range.
    for (const std::uint64_t others : {0, 1 << 20})
      for (const auto exchange :
           {exchange_strategy::put, exchange_strategy::rma, exchange_strategy::channel}) {
        if (why_not(exchange, exchange_order::round_robin, exchange_layout_of(team))) continue;
        for (std::size_t i = 0; i < count; ++i)
          records[i] = {others == 0 ? 7
                        : i == 0    ? std::uint64_t{1} << 40
                                    : random.below(others),
                        i};
        const auto payload_of = [](const wide_record& record) { return record.origin; };
        const auto before = checksum_of<wide_record>(records, &wide_record::key, payload_of);
        const auto part = bucket_sort(team, records, {.exchange = exchange}, &wide_record::key);
        const auto faults =
            check_sorted<wide_record>(team, before, part, &wide_record::key, payload_of);
        EXPECT_TRUE(faults.none()) << name_of(exchange) << ": " << faults.text;
      }
  });
}

struct record {
  std::int16_t key;
  char filling[6];
  std::int64_t origin;  // ascends with rank and position
};

std::vector<record> records_of(int rank, std::size_t count, std::uint64_t different_keys) {
  random_stream random(8, static_cast<std::uint64_t>(rank));
  std::vector<record> records(count);
  for (std::size_t i = 0; i < count; ++i)
    records[i] = {static_cast<std::int16_t>(random.below(different_keys) - 40),
                  {},
                  rank * 1'000'000 + static_cast<std::int64_t>(i)};
  return records;
}

const auto origin_of = [](const record& record) {
  return static_cast<std::uint64_t>(record.origin);
};

bool same(const std::vector<record>& a, const std::vector<record>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const record& x, const record& y) {
    return x.key == y.key && x.origin == y.origin;
  });
}

TEST(BucketItems, a_stable_sort_keeps_the_order_of_equal_keys_with_every_deterministic_exchange) {
  spmd([](team& team) {
    const auto records =
        records_of(team.rank(), 700 + 50 * static_cast<std::size_t>(team.rank()), 90);
    auto expected = gathered(team, records);
    std::stable_sort(expected.begin(), expected.end(),
                     [](const record& a, const record& b) { return a.key < b.key; });
    for (const auto exchange : values_of<exchange_strategy>()) {
      if (!is_deterministic(exchange) ||
          why_not(exchange, exchange_order::round_robin, exchange_layout_of(team)))
        continue;
      for (const auto splitters : {bucket_splitters::equal_width, bucket_splitters::sampled}) {
        bucket_sorter<record, decltype(&record::key)> sorter(
            team, {.exchange = exchange, .stable = true, .splitters = splitters}, &record::key);
        const auto sorted = sorter.sort(records);
        EXPECT_TRUE(
            same(gathered(team, std::vector<record>(sorted.begin(), sorted.end())), expected))
            << name_of(exchange);
        const auto before = checksum_of<record>(records, &record::key, origin_of);
        const auto faults = check_sorted(team, before, sorted, &record::key, origin_of, origin_of);
        EXPECT_TRUE(faults.none()) << name_of(exchange) << ": " << faults.text;
      }
    }
  });
}

TEST(BucketItems, bucket_exchange_returns_the_items_of_the_bucket_in_order_of_rank_and_position) {
  spmd([](team& team) {
    const auto records = records_of(team.rank(), 400, 60);
    const auto part = bucket_exchange(team, records, {.stable = true}, &record::key);
    const auto all = gathered(team, records);
    const auto ends = team.allgather_value(std::array<std::int16_t, 2>{
        part.empty() ? std::int16_t{0}
                     : std::min_element(part.begin(), part.end(),
                                        [](auto& a, auto& b) { return a.key < b.key; })
                           ->key,
        part.empty() ? std::int16_t{-1}
                     : std::max_element(part.begin(), part.end(), [](auto& a, auto& b) {
                         return a.key < b.key;
                       })->key});
    std::vector<record> expected;
    std::copy_if(all.begin(), all.end(), std::back_inserter(expected), [&](const record& record) {
      const auto& [lowest, highest] = ends[static_cast<std::size_t>(team.rank())];
      return record.key >= lowest && record.key <= highest;
    });
    EXPECT_TRUE(same(part, expected));
    EXPECT_EQ(team.allreduce_value(part.size(), reduction::sum), all.size());
  });
}

TEST(BucketItems, values_stay_with_their_keys) {
  spmd([](team& team) {
    auto keys = random_keys<std::uint32_t>(team.rank(), 500, 1000);
    std::vector<std::uint64_t> values;
    for (const auto key : keys) values.push_back(std::uint64_t{key} * key + 1);
    bucket_sort_by_key(team, keys, values);
    EXPECT_EQ(team.allreduce_value(keys.size(), reduction::sum),
              500u * static_cast<unsigned>(team.size()));
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    ASSERT_EQ(keys.size(), values.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      EXPECT_EQ(values[i], std::uint64_t{keys[i]} * keys[i] + 1);
  });
}

// The largest number of items of a rank, divided by an equal share.
double imbalance(team& team, const std::vector<std::uint32_t>& keys,
                 const bucket_options& options) {
  const auto part = bucket_sort(team, keys, options);
  EXPECT_TRUE(check_sorted<std::uint32_t>(team, checksum_of<std::uint32_t>(keys), part).none());
  const auto all = team.allreduce_value(keys.size(), reduction::sum);
  return static_cast<double>(team.allreduce_value(part.size(), reduction::max)) * team.size() /
         static_cast<double>(all);
}

TEST(BucketItems, sampled_splitters_balance_skewed_keys) {
  spmd([](team& team) {
    random_stream random(4, static_cast<std::uint64_t>(team.rank()));
    std::vector<std::uint32_t> skewed(6000), equal(6000, 7), few(6000);
    for (auto& key : skewed) key = static_cast<std::uint32_t>(std::exp(random.uniform() * 20));
    for (auto& key : few) key = static_cast<std::uint32_t>(random.below(2));
    const bucket_options sampled{.splitters = bucket_splitters::sampled};
    for (const auto* keys : {&skewed, &equal, &few})
      EXPECT_LT(imbalance(team, *keys, sampled), 1.15);
    if (team.size() > 1) {
      EXPECT_GT(imbalance(team, skewed, {}), 1.5);
      // With `together` one rank gets all items, because their keys are equal.
      EXPECT_EQ(imbalance(team, equal, {.splitters = bucket_splitters::sampled, .together = true}),
                team.size());
    }
  });
}

TEST(BucketItems, splitters_weight_samples_by_the_number_of_items_of_their_rank) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    // The last rank has most items, and its keys are below those of all other ranks.
    const bool last = team.rank() == team.size() - 1;
    std::vector<std::uint32_t> keys(last ? 20'000 : static_cast<std::size_t>(team.rank()) * 10);
    random_stream random(4, static_cast<std::uint64_t>(team.rank()));
    for (auto& key : keys) key = static_cast<std::uint32_t>(random.below(1000) + (last ? 0 : 5000));
    EXPECT_LT(imbalance(team, keys, {.splitters = bucket_splitters::sampled}), 1.25);
  });
}

TEST(BucketItems, with_together_no_key_is_on_two_ranks) {
  spmd([](team& team) {
    const auto keys = random_keys<std::uint16_t>(team.rank(), 3000, 5);
    const auto part =
        bucket_sort(team, keys, {.splitters = bucket_splitters::sampled, .together = true});
    std::vector<std::int64_t> ranks_with(5);
    for (std::size_t key = 0; key < 5; ++key)
      ranks_with[key] =
          std::binary_search(part.begin(), part.end(), static_cast<std::uint16_t>(key)) ? 1 : 0;
    team.allreduce(std::span(ranks_with), reduction::sum);
    EXPECT_EQ(ranks_with, std::vector<std::int64_t>(5, 1));
    EXPECT_TRUE(check_sorted<std::uint16_t>(team, checksum_of<std::uint16_t>(keys), part).none());
  });
}

TEST(BucketItems, several_tasks_give_the_result_of_one) {
  spmd([](team& team) {
    tasks workers({.layer = "threads", .count = 3});
    for (const auto exchange :
         {exchange_strategy::put_scan, exchange_strategy::channel, exchange_strategy::direct})
      for (const auto splitters : {bucket_splitters::equal_width, bucket_splitters::sampled}) {
        const auto records = records_of(team.rank(), 20'000, 30'000);
        const bucket_options alone{.exchange = exchange, .stable = true, .splitters = splitters};
        auto by_tasks = alone;
        by_tasks.workers = &workers;
        EXPECT_TRUE(same(bucket_sort(team, records, by_tasks, &record::key),
                         bucket_sort(team, records, alone, &record::key)));
      }
  });
}

}  // namespace
}  // namespace longshore

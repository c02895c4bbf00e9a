// Compares the local sort with std::stable_sort, for several numbers of tasks, and the division
// into buckets with a plain division.
#include <longshore/core/random.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/sort/detail/bucketizer.hpp>
#include <longshore/sort/detail/radix_sort.hpp>
#include <longshore/sort/detail/splitters.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace longshore::detail {
namespace {

// Memory for keys with the alignment that the sort requires.
template <class Key>
class aligned_keys {
 public:
  explicit aligned_keys(std::size_t count) : memory_(count * sizeof(Key)), count_(count) {}
  std::span<Key> span() { return {reinterpret_cast<Key*>(memory_.data()), count_}; }

 private:
  pages memory_;
  std::size_t count_;
};

template <class Key>
using radix_key = unsigned_of_size<sizeof(Key)>;
template <class Key>
using whole_item = item_radix_key<Key, item_is_key>;

// Sorts three times with `task_count` tasks: none, half and all of the items are counted before the
// sort.
template <class Item, class Projection>
void check_sorter(std::span<const Item> items, Projection projection,
                  radix_key<typename item_radix_key<Item, Projection>::key> lowest,
                  radix_key<typename item_radix_key<Item, Projection>::key> highest,
                  int task_count) {
  const item_radix_key<Item, Projection> radix_key_of{projection};
  std::vector<Item> expected(items.begin(), items.end());
  std::stable_sort(expected.begin(), expected.end(),
                   [&](const Item& a, const Item& b) { return radix_key_of(a) < radix_key_of(b); });
  tasks workers(task_count == 1 ? task_options{}
                                : task_options{.layer = "threads", .count = task_count});
  radix_sorter<Item, item_radix_key<Item, Projection>> sorter(workers, radix_key_of);
  for (const std::size_t counted : {std::size_t{0}, items.size() / 2, items.size()}) {
    aligned_keys<Item> from(items.size()), scratch(items.size());
    std::copy(items.begin(), items.end(), from.span().begin());
    sorter.expect(items.size(), lowest, highest);
    // Two calls count: the first call counts the later items.
    const std::size_t middle = counted / 3;
    sorter.count(from.span().data() + middle, middle, counted - middle);
    sorter.count(from.span().data(), 0, middle);
    const auto sorted = sorter.sort(from.span().data(), scratch.span().data());
    ASSERT_EQ(sorted.size(), expected.size());
    ASSERT_TRUE(items.empty() ||
                std::memcmp(sorted.data(), expected.data(), items.size_bytes()) == 0)
        << items.size() << " items of " << sizeof(Item) << " bytes, " << task_count << " tasks, "
        << counted << " counted before";
  }
}

template <class Key>
void check_sort(std::size_t count, Key lowest, std::uint64_t span, std::uint64_t seed,
                int task_count = 1) {
  std::vector<Key> keys(count);
  random_stream random(seed);
  const std::uint64_t first = radix_key_of(lowest);
  for (auto& key : keys)
    key = key_from_radix_key<Key>(static_cast<radix_key<Key>>(
        first + (span == ~std::uint64_t{0} ? random() : random.below(span + 1))));
  check_sorter<Key>(keys, item_is_key{}, static_cast<radix_key<Key>>(first),
                    static_cast<radix_key<Key>>(first + span), task_count);
}

TEST(RadixSort, sorts_any_number_of_keys_of_any_type_and_range) {
  // Numbers around the limits of insertion sort and of a single part.
  for (const std::size_t count : {0, 1, 2, 63, 64, 1000, 32768, 32769}) {
    check_sort<std::uint32_t>(count, 0, (1u << 28) - 1, count);
    check_sort<std::uint32_t>(count, 12345, 0, count);  // all keys equal
    check_sort<std::int8_t>(count, -128, 255, count, 3);
    check_sort<std::uint32_t>(count, 0, 1, count, 2);
  }
  check_sort<std::uint64_t>(40'000, 0, ~std::uint64_t{0}, 5);
  check_sort<double>(40'000, -1e9, std::uint64_t{1} << 62, 5, 3);
  check_sort<std::uint32_t>(100'000, 0, (1u << 28) - 1, 5, 4);
}

TEST(RadixSort, is_stable_if_most_items_have_the_same_key) {
  struct record {
    std::uint32_t key, origin, filling;  // 12 bytes, which do not divide a cache line
  };
  constexpr std::size_t count = 120'000;  // the part of the most frequent keys exceeds the cache
  std::vector<record> records(count);
  random_stream random(1);
  for (std::uint32_t i = 0; i < count; ++i)
    records[i] = {
        static_cast<std::uint32_t>(i % 1000 == 0 ? random.below(1u << 28) : 77 * random.below(200)),
        i, ~i};
  for (const int task_count : {1, 3})
    check_sorter<record>(records, &record::key, 0, (1u << 28) - 1, task_count);
}

TEST(RadixKey, radix_keys_compare_as_their_keys) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  const std::vector<double> ascending = {
      std::copysign(nan, -1.0), -inf, -1e300, -1, -5e-324, -0.0, 0.0, 5e-324, 1, 1e300, inf, nan};
  for (std::size_t i = 1; i < ascending.size(); ++i)
    EXPECT_LT(radix_key_of(ascending[i - 1]), radix_key_of(ascending[i])) << i;
  for (const double key : ascending)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(key_from_radix_key<double>(radix_key_of(key))),
              std::bit_cast<std::uint64_t>(key));
  for (const float key : {-3.5F, -0.0F, 0.0F, 2.25F})
    EXPECT_EQ(key_from_radix_key<float>(radix_key_of(key)), key);
  for (const int key : {-128, -1, 0, 5, 127}) {
    EXPECT_EQ(key_from_radix_key<std::int8_t>(radix_key_of(static_cast<std::int8_t>(key))), key);
    EXPECT_EQ(int{radix_key_of(static_cast<std::int8_t>(key))}, key + 128);
  }
  EXPECT_EQ(radix_key_of(std::uint16_t{40000}), 40000);
}

// The bucket of a key by division, with 128-bit numbers, which cannot overflow.
template <class RadixKey>
std::size_t bucket_by_division(RadixKey key, RadixKey lowest, RadixKey highest, int buckets) {
  __extension__ using int128 = __int128;
  const int128 width = (static_cast<int128>(highest) - static_cast<int128>(lowest)) / buckets + 1;
  return static_cast<std::size_t>((static_cast<int128>(key) - static_cast<int128>(lowest)) / width);
}

template <class Key>
void check_buckets(Key lowest, Key highest, int buckets, int task_count) {
  using ranges = bucket_ranges<Key>;
  std::vector<Key> keys = {lowest, highest};
  random_stream random(9);
  const auto span = static_cast<std::uint64_t>(highest - lowest);
  for (int i = 0; i < 5000; ++i)
    keys.push_back(static_cast<Key>(
        std::uint64_t{lowest} + (span == ~std::uint64_t{0} ? random() : random.below(span + 1))));
  const auto bucket_of = [&](Key key) { return bucket_by_division(key, lowest, highest, buckets); };
  std::vector<std::size_t> expected(buckets), counts(buckets, 77);
  for (const Key key : keys) ++expected[bucket_of(key)];

  tasks workers(task_count == 1 ? task_options{}
                                : task_options{.layer = "threads", .count = task_count});
  const std::vector<section_ranges<Key>> sections{
      {keys.size(), ranges::of_equal_width(lowest, highest, buckets)}};
  bucketizer<Key, whole_item<Key>> bucketizer(workers, static_cast<std::size_t>(buckets), {});
  EXPECT_EQ(bucketizer.count(keys, sections, counts), keys.size());
  EXPECT_EQ(counts, expected) << buckets << " buckets of " << int{sizeof(Key)};

  aligned_keys<Key> out(keys.size());
  std::vector<Key*> to;
  std::size_t next = 0;
  for (const std::size_t count : counts) {
    to.push_back(out.span().data() + next);
    next += count;
  }
  bucketizer.scatter(keys, sections, to);
  std::vector<Key> stable = keys;
  std::stable_sort(stable.begin(), stable.end(),
                   [&](Key a, Key b) { return bucket_of(a) < bucket_of(b); });
  EXPECT_TRUE(std::equal(stable.begin(), stable.end(), out.span().begin()))
      << buckets << " buckets";
  for (int bucket = 0; bucket < buckets; ++bucket) {
    const auto range = sections.front().ranges.range_of(static_cast<std::size_t>(bucket));
    for (std::size_t i = 0; i < counts[bucket]; ++i) {
      ASSERT_GE(to[bucket][i], range.lowest);
      ASSERT_LE(to[bucket][i], range.highest);
    }
  }
}

TEST(Bucketizer, counts_and_scatters_as_a_plain_division) {
  for (const int buckets : {1, 2, 3, 4, 5, 8, 9, 64, 100}) {
    check_buckets<std::uint32_t>(0, (1u << 28) - 1, buckets, 1 + buckets % 3);
    check_buckets<std::uint32_t>(5, 5, buckets, 2);
    check_buckets<std::uint32_t>(7, 3 * 64 + 6, buckets, 2);  // fewer than 3 radix keys per bucket
    check_buckets<std::uint8_t>(0, 255, buckets, 1);
    check_buckets<std::uint64_t>(0, ~std::uint64_t{0}, buckets, 3);
  }
}

TEST(Bucketizer, count_returns_the_position_of_a_key_out_of_range) {
  tasks workers({.layer = "threads", .count = 2});
  bucketizer<std::int32_t, whole_item<std::int32_t>> bucketizer(workers, 3, {});
  std::vector<std::size_t> counts(3);
  const std::vector<section_ranges<std::uint32_t>> sections{
      {10000, bucket_ranges<std::uint32_t>::of_equal_width(radix_key_of(std::int32_t{0}),
                                                           radix_key_of(std::int32_t{99}), 3)}};
  for (const std::int32_t bad : {-1, 100, std::numeric_limits<std::int32_t>::min()})
    for (const std::size_t position : {0, 4095, 4096, 9999}) {
      std::vector<std::int32_t> keys(10000, 50);
      EXPECT_EQ(bucketizer.count(keys, sections, counts), keys.size());
      keys[position] = bad;
      EXPECT_EQ(bucketizer.count(keys, sections, counts), position);
    }
}

template <class Key>
void check_outside(Key lowest, Key highest) {
  const auto ranges = bucket_ranges<Key>::of_equal_width(lowest, highest, 1);
  std::vector<Key> keys(100, lowest);
  keys[70] = highest;
  EXPECT_EQ(ranges.first_outside(std::span<const Key>(keys), whole_item<Key>{}), keys.size());
  for (const Key bad : {static_cast<Key>(lowest - 1), static_cast<Key>(highest + 1)}) {
    keys[60] = bad;
    EXPECT_EQ(ranges.first_outside(std::span<const Key>(keys), whole_item<Key>{}), 60)
        << +lowest << " to " << +highest << ": " << +bad;
  }
}

template <class Key>
void check_outside_of_ranges() {
  constexpr Key half = Key{1} << (8 * sizeof(Key) - 1), most = static_cast<Key>(~Key{0});
  for (const Key lowest : {Key{0}, Key{3}, half})
    for (const Key span : {Key{0}, Key{5}, static_cast<Key>(half - 1), half,
                           static_cast<Key>(half + 1), static_cast<Key>(most - 4)})
      if (span <= most - lowest) check_outside<Key>(lowest, static_cast<Key>(lowest + span));
}

TEST(Bucketizer, finds_keys_beside_a_range_of_any_width) {
  check_outside_of_ranges<std::uint8_t>();
  check_outside_of_ranges<std::uint16_t>();
  check_outside_of_ranges<std::uint32_t>();
  check_outside_of_ranges<std::uint64_t>();
}

// The expected bucket of an item is the number of splitters that are not above its item_position.
TEST(Splitters, divide_items_in_the_order_of_key_rank_and_position) {
  random_stream random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const int ranks = 2 + trial % 9;
    std::vector<item_position> splitters;
    for (int k = 1; k < ranks; ++k)
      splitters.push_back({random.below(4), random.below(300),
                           static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)))});
    std::sort(splitters.begin(), splitters.end());
    std::vector<std::uint32_t> keys(300);
    for (auto& key : keys) key = static_cast<std::uint32_t>(random.below(4));
    tasks workers({.layer = "threads", .count = 1 + trial % 3});
    for (int rank = 0; rank < ranks; ++rank)
      for (const bool together : {false, true}) {
        const auto sections =
            ranges_at_splitters<std::uint32_t>(splitters, rank, keys.size(), together, 0, 3);
        bucketizer<std::uint32_t, whole_item<std::uint32_t>> bucketizer(
            workers, static_cast<std::size_t>(ranks), {});
        std::vector<std::size_t> counts(static_cast<std::size_t>(ranks));
        ASSERT_EQ(bucketizer.count(keys, sections, counts), keys.size());
        std::vector<std::vector<std::uint32_t>> expected(static_cast<std::size_t>(ranks));
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const auto below = [&](const item_position& splitter) {
            return together ? splitter.radix_key <= keys[i]
                            : splitter <= item_position{keys[i], i, rank};
          };
          expected[static_cast<std::size_t>(
                       std::count_if(splitters.begin(), splitters.end(), below))]
              .push_back(keys[i]);
        }
        aligned_keys<std::uint32_t> out(keys.size());
        std::vector<std::uint32_t*> to;
        std::size_t next = 0;
        for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
          ASSERT_EQ(counts[bucket], expected[bucket].size())
              << trial << " " << rank << " " << together << " " << bucket;
          to.push_back(out.span().data() + next);
          next += counts[bucket];
        }
        bucketizer.scatter(keys, sections, to);
        for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
          ASSERT_TRUE(std::equal(expected[bucket].begin(), expected[bucket].end(), to[bucket]));
          const auto range = range_of_bucket<std::uint32_t>(splitters, bucket, 0, 3);
          for (const std::uint32_t key : expected[bucket])
            ASSERT_TRUE(key >= range.lowest && key <= range.highest);
        }
      }
  }
}

}  // namespace
}  // namespace longshore::detail

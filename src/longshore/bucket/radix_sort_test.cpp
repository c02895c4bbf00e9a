// The local sort, and the cut into buckets, against std::sort and division.
#include <longshore/bucket/bucketize.hpp>
#include <longshore/bucket/radix_sort.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/pages.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace longshore::bucketing {
namespace {

// Keys in memory that is aligned as the sort needs it.
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
void check_sort(std::size_t count, Key lowest, std::uint64_t span, std::uint64_t seed) {
  aligned_keys<Key> keys(count), scratch(count);
  random_stream random(seed);
  for (auto& key : keys.span())
    key = static_cast<Key>(static_cast<std::make_unsigned_t<Key>>(lowest) +
                           (span == ~std::uint64_t{0} ? random() : random.below(span + 1)));
  std::vector<Key> expected(keys.span().begin(), keys.span().end());
  std::sort(expected.begin(), expected.end());
  radix_sorter<Key> sorter;
  const auto sorted = sorter.sort(keys.span(), scratch.span().data(), lowest, span);
  ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()))
      << count << " keys of " << sizeof(Key) << " bytes, span " << span;
}

TEST(RadixSort, sorts_any_number_of_keys_of_any_type_and_range) {
  // Below and above what is sorted by comparing, and what fits into one part.
  for (const std::size_t count : {0, 1, 2, 95, 96, 1000, 32768, 32769, 300'000, 1'000'003}) {
    check_sort<std::uint32_t>(count, 0, (1u << 28) - 1, count);
    check_sort<std::uint32_t>(count, 12345, 0, count);  // all keys equal
    check_sort<std::uint32_t>(count, 0, 1, count);
    check_sort<std::int32_t>(count, std::numeric_limits<std::int32_t>::min(), ~std::uint32_t{0}, count);
    check_sort<std::int8_t>(count, -128, 255, count);
    check_sort<std::uint16_t>(count, 7, 999, count);
  }
  check_sort<std::uint64_t>(200'000, 0, ~std::uint64_t{0}, 5);
  check_sort<std::int64_t>(200'000, -5'000'000'000, 10'000'000'000, 5);
}

TEST(RadixSort, sorts_keys_that_crowd_in_one_part) {
  constexpr std::size_t count = 500'000;
  aligned_keys<std::uint32_t> keys(count), scratch(count);
  random_stream random(1);
  for (std::size_t i = 0; i < count; ++i)
    keys.span()[i] = static_cast<std::uint32_t>(i % 1000 == 0 ? random.below(1u << 28) : random.below(2000));
  std::vector<std::uint32_t> expected(keys.span().begin(), keys.span().end());
  std::sort(expected.begin(), expected.end());
  radix_sorter<std::uint32_t> sorter;
  const auto sorted = sorter.sort(keys.span(), scratch.span().data(), 0, (1u << 28) - 1);
  EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()));
}

// Buckets by division, in arithmetic that cannot overflow.
template <class Key>
std::size_t bucket_by_division(Key key, Key lowest, Key highest, int buckets) {
  __extension__ using int128 = __int128;
  const int128 width = (static_cast<int128>(highest) - static_cast<int128>(lowest)) / buckets + 1;
  return static_cast<std::size_t>((static_cast<int128>(key) - static_cast<int128>(lowest)) / width);
}

template <class Key>
void check_buckets(Key lowest, Key highest, int buckets) {
  const key_buckets<Key> cut(lowest, highest, buckets);
  std::vector<Key> keys = {lowest, highest};
  random_stream random(9);
  const auto span = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Key>>(highest) -
                                               static_cast<std::make_unsigned_t<Key>>(lowest));
  for (int i = 0; i < 5000; ++i)
    keys.push_back(
        static_cast<Key>(static_cast<std::uint64_t>(lowest) + (span == ~std::uint64_t{0} ? random() : random.below(span + 1))));
  std::vector<std::size_t> expected(buckets), counts(buckets, 77);
  for (const Key key : keys) ++expected[bucket_by_division(key, lowest, highest, buckets)];
  EXPECT_EQ(cut.count(keys, counts), keys.size());
  EXPECT_EQ(counts, expected) << buckets << " buckets";

  aligned_keys<Key> out(keys.size());
  std::vector<std::size_t> starts(buckets);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::size_t{0});
  line_scatter<Key> lines(buckets);
  bucketize(cut, std::span<const Key>(keys), starts, out.span().data(), lines);
  std::vector<Key> stable = keys;
  std::stable_sort(stable.begin(), stable.end(), [&](Key a, Key b) {
    return bucket_by_division(a, lowest, highest, buckets) < bucket_by_division(b, lowest, highest, buckets);
  });
  EXPECT_TRUE(std::equal(stable.begin(), stable.end(), out.span().begin())) << buckets << " buckets";
  for (int bucket = 0; bucket < buckets; ++bucket) {
    const auto range = cut.range_of(bucket);
    for (std::size_t i = starts[bucket]; i < starts[bucket] + counts[bucket]; ++i)
      ASSERT_LE(key_buckets<Key>(range.first, range.first, 1).distance_of(out.span()[i]), range.span);
  }
}

TEST(KeyBuckets, count_and_scatter_as_division_says) {
  for (const int buckets : {1, 2, 3, 4, 5, 8, 9, 64, 100}) {
    check_buckets<std::uint32_t>(0, (1u << 28) - 1, buckets);
    check_buckets<std::int32_t>(-1000, 77777, buckets);
    check_buckets<std::int8_t>(-128, 127, buckets);
    check_buckets<std::uint16_t>(5, 5, buckets);
    check_buckets<std::uint64_t>(0, ~std::uint64_t{0}, buckets);
    check_buckets<std::int64_t>(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), buckets);
  }
}

TEST(KeyBuckets, a_key_outside_is_found_where_it_is) {
  const key_buckets<std::int32_t> cut(0, 99, 3);
  std::vector<std::size_t> counts(3);
  for (const std::int32_t bad : {-1, 100, std::numeric_limits<std::int32_t>::min()})
    for (const std::size_t position : {0, 4095, 4096, 9999}) {
      std::vector<std::int32_t> keys(10000, 50);
      EXPECT_EQ(cut.count(keys, counts), keys.size());
      keys[position] = bad;
      EXPECT_EQ(cut.count(keys, counts), position);
    }
}

}  // namespace
}  // namespace longshore::bucketing

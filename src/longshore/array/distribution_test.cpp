// Compares every distribution with a direct implementation of its definition, and invariant_divisor
// with the processor's division.
#include <longshore/array/block.hpp>
#include <longshore/array/block_cyclic.hpp>
#include <longshore/array/cyclic.hpp>
#include <longshore/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace longshore {
namespace {

constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();

// Divisors and dividends that are likely to show errors: numbers around powers of two, the smallest
// and the largest numbers, and random numbers.
std::vector<std::uint64_t> hard_numbers() {
  std::vector<std::uint64_t> numbers;
  for (int k = 0; k < 64; ++k)
    for (int d = -2; d <= 2; ++d)
      numbers.push_back((std::uint64_t{1} << k) + static_cast<std::uint64_t>(d));
  for (std::uint64_t i = 1; i < 60; ++i) numbers.push_back(i);
  for (std::uint64_t i = 0; i < 60; ++i) numbers.push_back(max_number - i);
  random_stream random(7);
  for (int i = 0; i < 200; ++i) numbers.push_back(random() >> random.below(64));
  return numbers;
}

TEST(InvariantDivisor, agrees_with_the_processor_on_64_bit_numbers) {
  const auto numbers = hard_numbers();
  std::size_t checked = 0;
  for (const std::uint64_t d : numbers) {
    if (d == 0) continue;
    const invariant_divisor divisor(d);
    const auto check = [&](std::uint64_t n) {
      ++checked;
      ASSERT_EQ(divisor.quotient(n), n / d) << n << " / " << d;
      if (n >> 63 == 0 && d > 1) {
        ASSERT_EQ(divisor.quotient_of_half_range(n), n / d) << n << " / " << d;
      }
    };
    for (const std::uint64_t n : numbers) check(n);
    // At multiples of the divisor and just below them, a quotient is most likely off by one.
    for (const std::uint64_t k : numbers) {
      const std::uint64_t multiple = max_number / d < k ? max_number / d * d : k * d;
      check(multiple), check(multiple - 1);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 500'000u);
}

TEST(InvariantDivisor, recognises_powers_of_two) {
  EXPECT_TRUE(invariant_divisor(1).is_power_of_two());
  EXPECT_EQ(invariant_divisor(1).shift(), 0);
  EXPECT_EQ(invariant_divisor(1024).shift(), 10);
  EXPECT_FALSE(invariant_divisor(12).is_power_of_two());
}

// The oracles deal out one element after the other, as the definitions of the distributions say.
std::vector<location> deal(block, std::uint64_t n, int ranks) {
  std::vector<location> at;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t items = n / ranks + (static_cast<std::uint64_t>(rank) < n % ranks ? 1 : 0);
    for (std::uint64_t offset = 0; offset < items; ++offset) at.push_back({rank, offset});
  }
  return at;
}
std::vector<location> deal(block_cyclic d, std::uint64_t n, int ranks) {
  std::vector<location> at;
  std::vector<std::uint64_t> held(static_cast<std::size_t>(ranks), 0);
  for (int rank = 0; at.size() < n; rank = (rank + 1) % ranks)
    for (std::uint64_t i = 0; i < d.block_items && at.size() < n; ++i)
      at.push_back({rank, held[rank]++});
  return at;
}
std::vector<location> deal(cyclic, std::uint64_t n, int ranks) {
  return deal(block_cyclic{1}, n, ranks);
}

template <class D>
void compare_with_dealing(D distribution) {
  std::size_t elements = 0;
  for (int ranks = 1; ranks <= 17; ++ranks)
    for (const std::uint64_t n :
         {0, 1, 2, 3, 5, 7, 8, 16, 17, 31, 64, 100, 128, 255, 256, 1000, 1024, 4099}) {
      const typename D::map map(distribution, n, ranks);
      const auto expected = deal(distribution, n, ranks);
      ASSERT_EQ(expected.size(), n);
      std::vector<std::uint64_t> held(static_cast<std::size_t>(ranks), 0);
      for (std::uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(map.owner_offset(i), expected[i])
            << "index " << i << " of " << n << " over " << ranks << " ranks";
        ASSERT_EQ(map.index_of(expected[i].rank, expected[i].offset), i);
        ++held[expected[i].rank];
        ++elements;
      }
      std::uint64_t largest = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        ASSERT_EQ(map.local_size(rank), held[rank])
            << "rank " << rank << " of " << ranks << ", " << n << " elements";
        largest = std::max(largest, held[rank]);
      }
      ASSERT_EQ(map.largest_local_size(), largest);
      ASSERT_EQ(map.size(), n);
      ASSERT_EQ(map.ranks(), ranks);
      map.with_locator([&](auto locate) {
        for (std::uint64_t i = 0; i < n; ++i)
          ASSERT_EQ(locate(i), expected[i]) << i << " of " << n << " over " << ranks;
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
  EXPECT_GT(elements, 100'000u);
}

TEST(Distribution, block_agrees_with_dealing_out) { compare_with_dealing(block{}); }
TEST(Distribution, cyclic_agrees_with_dealing_out) { compare_with_dealing(cyclic{}); }
TEST(Distribution, block_cyclic_agrees_with_dealing_out) {
  for (const std::uint64_t items : {1, 2, 3, 8, 13, 64, 5000})
    compare_with_dealing(block_cyclic{items});
}

// Converts random indices, the first and the last index to a location and back, for sizes that are
// too large to deal out.
template <class D>
void round_trip_of_huge_sizes(D distribution) {
  random_stream random(11);
  for (const int ranks : {1, 2, 3, 64, 1000, 46341, 1 << 20})
    for (const std::uint64_t n :
         {std::uint64_t{1} << 40, (std::uint64_t{1} << 61) + 12345, max_elements}) {
      const typename D::map map(distribution, n, ranks);
      map.with_locator([&](auto locate) {
        for (int k = 0; k < 200; ++k) {
          const std::uint64_t i = k == 0 ? 0 : k == 1 ? n - 1 : random.below(n);
          const location at = map.owner_offset(i);
          ASSERT_TRUE(at.rank >= 0 && at.rank < ranks && at.offset < map.local_size(at.rank));
          ASSERT_EQ(map.index_of(at.rank, at.offset), i);
          ASSERT_EQ(locate(i), at);
        }
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Distribution, indices_of_huge_arrays_survive_a_round_trip) {
  round_trip_of_huge_sizes(block{});
  round_trip_of_huge_sizes(cyclic{});
  round_trip_of_huge_sizes(block_cyclic{8});
  round_trip_of_huge_sizes(block_cyclic{1000003});
}

TEST(Distribution, maps_are_equal_if_size_ranks_and_blocks_are_equal) {
  EXPECT_EQ(block::map({}, 10, 3), block::map({}, 10, 3));
  EXPECT_NE(block::map({}, 10, 3), block::map({}, 11, 3));
  EXPECT_NE(cyclic::map({}, 10, 3), cyclic::map({}, 10, 4));
  EXPECT_NE(block_cyclic::map({2}, 10, 3), block_cyclic::map({3}, 10, 3));
}

}  // namespace
}  // namespace longshore

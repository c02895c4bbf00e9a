// Names of strategies, reasons against a strategy, and loops that check their indices.
#include <longshore/core/error.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/strategy.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace longshore {
namespace {

TEST(GatherStrategy, every_name_leads_to_its_strategy_and_back) {
  for (const auto strategy : values_of<gather_strategy>())
    EXPECT_EQ(from_name<gather_strategy>(name_of(strategy)), strategy);
}

TEST(GatherStrategy, the_error_for_an_unknown_name_lists_the_names) {
  try {
    static_cast<void>(from_name<gather_strategy>("exstak"));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    EXPECT_NE(std::string(e.what()).find("'exstak'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("agp, exstack, "), std::string::npos) << e.what();
  }
}

TEST(GatherStrategy, a_strategy_that_cannot_be_used_has_a_reason) {
  EXPECT_FALSE(why_not(gather_strategy::direct, true));
  EXPECT_TRUE(why_not(gather_strategy::direct, false));
  EXPECT_FALSE(why_not(gather_strategy::agp, false));
  EXPECT_FALSE(why_not(gather_strategy::exstack, false));
  EXPECT_FALSE(why_not(gather_strategy::automatic, false));
  for (const auto engine :
       {gather_strategy::exstack2, gather_strategy::conveyor, gather_strategy::aggregator})
    EXPECT_FALSE(why_not(engine, false)) << name_of(engine);
}

// As used(), but each index is also visited up to 10 positions before it is used.
std::size_t used_ahead(const std::vector<std::int64_t>& indices, std::uint64_t size) {
  std::size_t visited = 0, expected = 0;
  return detail::for_each_in_range_prefetched<10>(
      indices, size,
      [&](std::uint64_t index) {
        EXPECT_EQ(index, static_cast<std::uint64_t>(indices[visited++]));
      },
      [&](std::size_t i, std::uint64_t index) {
        EXPECT_EQ(i, expected++);
        EXPECT_LT(i, visited);
        EXPECT_EQ(index, static_cast<std::uint64_t>(indices[i]));
      });
}

// How many indices were used. Checks that they were the first ones, in order.
std::size_t used(const std::vector<std::int64_t>& indices, std::uint64_t size) {
  std::size_t expected = 0;
  return detail::for_each_in_range(indices, size, [&](std::size_t i, std::uint64_t index) {
    EXPECT_EQ(i, expected++);
    EXPECT_EQ(index, static_cast<std::uint64_t>(indices[i]));
  });
}

TEST(IndexRange, a_bad_index_at_any_position_stops_the_loop_before_it_is_used) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min(),
                 highest = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{100}, most}) {
    const auto last = static_cast<std::int64_t>(size - 1);
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<std::int64_t> indices(count, last);
      EXPECT_EQ(used(indices, size), count);
      EXPECT_EQ(used_ahead(indices, size), count);
      for (std::size_t position = 0; position < count; ++position)
        for (const std::int64_t bad : {std::int64_t{-1}, lowest, last + 1, highest}) {
          indices[position] = bad;
          EXPECT_LE(used(indices, size), position) << bad << " of " << size;
          EXPECT_LE(used_ahead(indices, size), position) << bad << " of " << size;
          indices[position] = 0;
          EXPECT_EQ(used(indices, size), count);
        }
    }
  }
  EXPECT_EQ(used({}, 0), 0u);
  EXPECT_EQ(used({0}, 0), 0u);
}

}  // namespace
}  // namespace longshore

// Tests the order in which lines are read at random. An order that repeats lines would find them in
// a cache, and one that a prefetcher follows would measure the prefetcher.
#include "patterns/control/memory_speeds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace longshore::bench {
namespace {

TEST(ScatteredLine, has_each_line_once_from_any_first_place) {
  for (const int bits : {9, 15, 20}) {
    const std::size_t lines = std::size_t{1} << bits, first = 3 * lines + 777;
    std::vector<int> visits(lines, 0);
    for (std::size_t i = 0; i < lines; ++i) {
      const std::size_t line = scattered_line(first + i, bits);
      ASSERT_LT(line, lines);
      ++visits[line];
    }
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), lines) << bits;
  }
}

TEST(ScatteredLine, takes_no_step_often) {
  for (const int bits : {9, 15, 20}) {
    const std::size_t lines = std::size_t{1} << bits;
    std::map<std::size_t, std::size_t> steps;
    for (std::size_t i = 0; i < lines; ++i)
      ++steps[(scattered_line(i + 1, bits) - scattered_line(i, bits)) % lines];
    for (const auto& [step, count] : steps) EXPECT_LT(count, lines / 8) << bits << ' ' << step;
  }
}

}  // namespace
}  // namespace longshore::bench

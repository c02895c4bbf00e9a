// Tests that irregular boxes divide a domain.
#include "patterns/halo/irregular_boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace longshore::bench {
namespace {

struct one_case {
  cell_box domain;
  std::size_t count;
};

TEST(IrregularBoxes, each_cell_of_the_domain_is_in_one_box) {
  const std::vector<one_case> cases = {
      {{{0, 0, 0}, {12, 9, 10}}, 1},   {{{-3, 2, 10}, {12, 9, 10}}, 7},
      {{{0, 0, 0}, {12, 9, 10}}, 100}, {{{0, 0, 0}, {1, 7, 1}}, 7},
      {{{0, 0, 0}, {3, 4, 5}}, 60},    {{{5, 5, 5}, {1, 1, 1}}, 1}};
  for (const auto& c : cases)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto boxes = irregular_boxes(c.domain, c.count, seed);
      ASSERT_EQ(boxes.size(), c.count);
      std::int64_t cells = 0;
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        EXPECT_FALSE(boxes[i].is_empty());
        EXPECT_EQ(intersection(boxes[i], c.domain), boxes[i]);
        cells += boxes[i].count();
        for (std::size_t j = 0; j < i; ++j)
          EXPECT_TRUE(intersection(boxes[i], boxes[j]).is_empty());
      }
      EXPECT_EQ(cells, c.domain.count());
    }
}

TEST(IrregularBoxes, sizes_differ_and_the_seed_decides) {
  const cell_box domain{{0, 0, 0}, {64, 64, 128}};
  const auto boxes = irregular_boxes(domain, 40, 1);
  EXPECT_EQ(boxes, irregular_boxes(domain, 40, 1));
  EXPECT_NE(boxes, irregular_boxes(domain, 40, 2));
  std::map<std::int64_t, int> boxes_of_size;
  for (const auto& box : boxes) ++boxes_of_size[box.count()];
  EXPECT_GT(boxes_of_size.size(), 20u);
  const auto average = domain.count() / 40;
  const auto is_usual = [&](const cell_box& box) {
    return 2 * box.count() >= average && box.count() <= 2 * average;
  };
  EXPECT_GE(std::count_if(boxes.begin(), boxes.end(), is_usual), 30);
}

}  // namespace
}  // namespace longshore::bench

// Tests how many cache lines boxes and lists touch.
#include <longshore/exchange/detail/elements/element_set.hpp>

#include <gtest/gtest.h>

namespace longshore::detail {
namespace {

TEST(ElementSet, boxes_touch_the_lines_of_their_runs) {
  const auto lines = [](std::array<std::size_t, 3> extents, std::array<std::ptrdiff_t, 3> strides) {
    return line_count(element_box{0, extents, strides}, 1, 8);
  };
  EXPECT_EQ(lines({1, 1, 1}, {8, 8, 8}), 1u);
  EXPECT_EQ(lines({16, 1, 1}, {8, 0, 0}), 2u);         // without gaps
  EXPECT_EQ(lines({16, 4, 2}, {8, 128, 512}), 16u);    // the same in three dimensions
  EXPECT_EQ(lines({16, 4, 2}, {8, 1024, 8192}), 16u);  // rows with gaps
  EXPECT_EQ(lines({1, 4, 2}, {8, 1024, 8192}), 8u);    // one element in each row
  EXPECT_EQ(lines({8, 5, 1}, {32, 1024, 0}), 20u);     // two elements in a line
  EXPECT_EQ(lines({3, 5, 1}, {-1024, -8, 0}), 3u);     // backwards, five elements in a line
  EXPECT_EQ(lines({0, 4, 2}, {8, 1024, 8192}), 0u);
  EXPECT_EQ(line_count(element_box{0, {4, 1, 1}, {1, 0, 0}}, 200, 200), 13u);  // long elements
}

TEST(ElementSet, lists_touch_each_line_once_in_a_row) {
  using list = std::vector<std::uint32_t>;
  EXPECT_EQ(line_count(index_list(8, 16), 8, 8), 2u);
  EXPECT_EQ(line_count(index_list(5, 16), 8, 8), 3u);
  EXPECT_EQ(line_count(index_list(list{9, 5, 6}).slice(1, 2), 32, 16),
            line_count(index_list(5, 2), 32, 16));
  EXPECT_EQ(line_count(index_list(), 8, 8), 0u);
  EXPECT_EQ(line_count(index_list(list{0, 1, 2, 9, 7, 16, 17}), 8, 8), 4u);
  EXPECT_EQ(line_count(index_list(list{0, 2, 4}), 64, 8), 3u);
  EXPECT_EQ(line_count(index_list(list{0, 2, 4}), 160, 160), 9u);
}

}  // namespace
}  // namespace longshore::detail

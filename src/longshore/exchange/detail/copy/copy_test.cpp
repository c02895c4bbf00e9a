// Tests copies between strided boxes against a loop over elements.
#include <longshore/core/random.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/exchange/detail/copy/copy_batch.hpp>
#include <longshore/exchange/detail/copy/strided_box.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace longshore::detail {
namespace {

// A box with a random order of dimensions, random gaps and some negative strides.
strided_box random_box(random_stream& random, const std::array<std::size_t, 3>& extents,
                       std::size_t element_bytes, std::vector<std::byte>& memory) {
  std::array<int, 3> order{0, 1, 2};
  if (random.below(2) == 0) shuffle(std::span<int>(order), random);
  strided_box box{nullptr, element_bytes, extents, {}};
  auto stride = static_cast<std::ptrdiff_t>(element_bytes);
  std::ptrdiff_t lowest = 0;
  for (const int d : order) {
    if (random.below(2) == 0) stride += static_cast<std::ptrdiff_t>(random.below(5));
    const bool backwards = random.below(4) == 0;
    box.strides_bytes[d] = backwards ? -stride : stride;
    if (backwards) lowest += stride * static_cast<std::ptrdiff_t>(extents[d] - 1);
    stride *= static_cast<std::ptrdiff_t>(extents[d]);
  }
  memory.resize(static_cast<std::size_t>(stride) + element_bytes);
  for (auto& byte : memory) byte = static_cast<std::byte>(random());
  box.first = memory.data() + lowest;
  return box;
}

std::byte* element(const strided_box& box, std::size_t x, std::size_t y, std::size_t z) {
  return box.first + static_cast<std::ptrdiff_t>(x) * box.strides_bytes[0] +
         static_cast<std::ptrdiff_t>(y) * box.strides_bytes[1] +
         static_cast<std::ptrdiff_t>(z) * box.strides_bytes[2];
}

void copy_by_elements(const strided_box& to, const strided_box& from) {
  for (std::size_t z = 0; z < to.extents[2]; ++z)
    for (std::size_t y = 0; y < to.extents[1]; ++y)
      for (std::size_t x = 0; x < to.extents[0]; ++x)
        std::memcpy(element(to, x, y, z), element(from, x, y, z), to.element_bytes);
}

TEST(StridedCopy, copies_every_element_and_nothing_else) {
  random_stream random(1);
  std::size_t one_run = 0, moved = 0;
  for (int round = 0; round < 3000; ++round) {
    constexpr std::array<std::size_t, 8> sizes{1, 2, 4, 8, 12, 16, 5, 24};
    const std::size_t element_bytes = sizes[random.below(sizes.size())];
    const std::array<std::size_t, 3> extents{1 + random.below(9), 1 + random.below(7),
                                             1 + random.below(5)};
    std::vector<std::byte> from_memory, to_memory;
    const auto from = random_box(random, extents, element_bytes, from_memory);
    auto to = random_box(random, extents, element_bytes, to_memory);
    if (round % 3 == 0) {
      to_memory.resize(to.size_bytes() + 7);
      to = to.contiguous_at(to_memory.data() + 3);
    }
    const auto before = to_memory;
    const strided_copy copy(to, from);
    copy(to.first, from.first);
    const auto result = to_memory;
    to_memory = before;
    copy_by_elements(to, from);
    ASSERT_EQ(result, to_memory) << "round " << round << ", elements of " << element_bytes
                                 << " bytes, " << extents[0] << " x " << extents[1] << " x "
                                 << extents[2];
    one_run += copy.is_one_run();
    moved += result != before;
  }
  EXPECT_GT(one_run, 10u);
  EXPECT_GT(moved, 2900u);
}

TEST(StridedCopy, with_streaming_stores_copies_the_same_bytes) {
  random_stream random(2);
  for (int round = 0; round < 2000; ++round) {
    constexpr std::array<std::size_t, 5> sizes{4, 8, 12, 16, 24};
    const std::size_t element_bytes = sizes[random.below(sizes.size())];
    const std::array<std::size_t, 3> extents{1 + random.below(40), 1 + random.below(7),
                                             1 + random.below(5)};
    std::vector<std::byte> from_memory;
    const auto from = random_box(random, extents, element_bytes, from_memory);
    std::vector<std::byte> expected(from.size_bytes() + 200, std::byte{77}), streamed = expected;
    // Aligned to 4 bytes, at any place in a cache line.
    const std::size_t offset = 4 * random.below(17);
    const auto to = from.contiguous_at(streamed.data() + offset);
    copy_by_elements(from.contiguous_at(expected.data() + offset), from);
    const strided_copy copy(to, from, copy_stores::streaming);
    if (round % 2 == 0) {
      copy(to.first, from.first);
    } else {
      const std::size_t pieces = copy.piece_count(), half = pieces / 2;
      copy.copy_pieces(to.first, from.first, half, pieces);
      copy.copy_pieces(to.first, from.first, 0, half);
    }
    fence_streaming_stores();
    ASSERT_EQ(streamed, expected) << "round " << round;
  }
}

TEST(StridedCopy, a_pair_copies_the_same_bytes_as_two_copies) {
  // The low and the high face along x, as wide as a kernel for pairs exists and wider.
  constexpr std::size_t rows = 21, planes = 3;
  std::size_t pairs = 0;
  for (const std::size_t element_bytes : {1, 2, 4, 8, 12})
    for (std::size_t width = 1; width <= 9; ++width) {
      const std::size_t row_bytes = element_bytes * (3 * width + 20);
      const auto row = static_cast<std::ptrdiff_t>(row_bytes),
                 element = static_cast<std::ptrdiff_t>(element_bytes);
      std::vector<std::byte> from(row_bytes * (rows + 2) * planes), to(from.size(), std::byte{77});
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * i >> 3);
      const strided_box shape{nullptr,
                              element_bytes,
                              {width, rows, planes},
                              {element, row, row * static_cast<std::ptrdiff_t>(rows + 2)}};
      const auto at = [&](std::vector<std::byte>& memory, std::size_t offset) {
        auto box = shape;
        box.first = memory.data() + offset;
        return box;
      };
      const std::array offsets{std::size_t{0}, element_bytes * (2 * width + 19)};
      auto expected = to;
      copy_batch batch;
      for (const std::size_t offset : offsets) {
        copy_by_elements(at(expected, offset), at(from, offsets[1] - offset));
        batch.add(at(to, offset), at(from, offsets[1] - offset));
      }
      pairs += strided_copy(shape, shape).pairs_with(strided_copy(shape, shape));
      batch.run(nullptr);
      ASSERT_EQ(to, expected) << width << " elements of " << element_bytes << " bytes";
    }
  EXPECT_GT(pairs, 20u);
}

TEST(StridedCopy, joins_dimensions_without_gaps) {
  std::vector<std::byte> a(8 * 60), b(8 * 60);
  const strided_box box = strided_box{nullptr, 8, {3, 4, 5}, {}}.contiguous_at(a.data());
  EXPECT_TRUE(strided_copy(box.contiguous_at(b.data()), box).is_one_run());
  auto gap = box;
  gap.strides_bytes[2] += 8;
  EXPECT_FALSE(strided_copy(box, gap).is_one_run());
  gap.extents[2] = 1;  // the stride of a single element is no gap
  EXPECT_TRUE(strided_copy(gap.contiguous_at(b.data()), gap).is_one_run());
}

TEST(StridedCopy, of_an_empty_box_copies_nothing) {
  std::vector<std::byte> a(64, std::byte{1}), b(64, std::byte{2});
  const strided_box box = strided_box{nullptr, 8, {0, 2, 2}, {}}.contiguous_at(a.data());
  strided_copy(box.contiguous_at(b.data()), box)(b.data(), a.data());
  EXPECT_TRUE(std::all_of(b.begin(), b.end(), [](std::byte byte) { return byte == std::byte{2}; }));
}

// Rows of 32 cells of 8 bytes, and halo: both faces along x, and then a face along y.
TEST(CopyBatch, counts_the_cache_lines_of_short_runs) {
  for (const std::size_t width : {1, 2}) {
    const std::size_t row_cells = 32 + 2 * width, rows = 10, planes = 12;
    std::vector<std::byte> cells(8 * row_cells * rows * planes);
    const auto row_bytes = static_cast<std::ptrdiff_t>(8 * row_cells);
    const auto box = [&](std::size_t x, std::array<std::size_t, 3> extents) {
      return strided_box{cells.data() + 8 * x, 8, extents, {8, row_bytes, 10 * row_bytes}};
    };
    const std::array<std::size_t, 3> face{width, rows, planes};
    copy_batch both;
    both.add(box(0, face), box(32, face));
    both.add(box(32 + width, face), box(width, face));
    // A row's end and the next row's begin have four runs side by side, in one line or in two.
    const double touched = width == 1 ? 1.5 : 2.0;
    EXPECT_DOUBLE_EQ(both.line_count(), touched * rows * planes);
    copy_batch along_y;
    along_y.add(box(0, {row_cells, 1, planes}), box(0, {row_cells, 1, planes}));
    EXPECT_DOUBLE_EQ(along_y.line_count(), planes);
  }
}

TEST(CopyBatch, interleaved_copies_of_tasks_agree_with_those_of_one_thread) {
  // A batch of low and high faces of two blocks, planes, and a run of many pages. The batch is
  // copied by the calling thread, by one task and by three tasks.
  constexpr std::size_t n = 60, row = 64;
  std::vector<double> from(2 * n * n * row), expected;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<double>(i);
  std::vector<double> run(200000, 7);
  for (const int count : {0, 1, 3}) {
    std::vector<double> to(from.size(), -1), run_to(run.size(), -1);
    copy_batch batch;
    const auto box = [](std::vector<double>& memory, std::size_t first,
                        std::array<std::size_t, 3> extents) {
      return strided_box{reinterpret_cast<std::byte*>(memory.data() + first),
                         8,
                         extents,
                         {8, row * 8, n * row * 8}};
    };
    for (const std::size_t block : {std::size_t{0}, n * n * row}) {
      batch.add(box(to, block + 0, {2, n, n}), box(from, block + 50, {2, n, n}));
      batch.add(box(to, block + 60, {2, n, n}), box(from, block + 2, {2, n, n}));
      batch.add(box(to, block + 10, {40, 1, n}), box(from, block + 12, {40, 1, n}));
    }
    const strided_box whole{
        reinterpret_cast<std::byte*>(run.data()), 8, {run.size(), 1, 1}, {8, 0, 0}};
    strided_box whole_to = whole;
    whole_to.first = reinterpret_cast<std::byte*>(run_to.data());
    batch.add(whole_to, whole);
    EXPECT_EQ(batch.size_bytes(), 8 * (2 * (2 * 2 * n * n + 40 * n) + run.size()));
    if (count == 0) {
      batch.run(nullptr);
      expected = to;
      EXPECT_EQ(to[60], 2);
      EXPECT_EQ(to[n * n * row + (n - 1) * row + 1],
                static_cast<double>(n * n * row + (n - 1) * row + 51));
    } else {
      tasks workers({.layer = "threads", .count = count, .cpus = {}});
      batch.run(&workers);
      EXPECT_EQ(to, expected);
    }
    EXPECT_EQ(run_to, run);
  }
}

}  // namespace
}  // namespace longshore::detail

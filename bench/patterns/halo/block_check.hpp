// Verifies operations on blocks that fill a domain: the blocks of a grid of ranks, or boxes. Each
// rank computes what its cells must be from the blocks of all ranks. longshore/halo/cell_check.hpp
// is simpler and faster, and knows exchanges of cells between the blocks of a grid alone.
#pragma once

#include <longshore/boxes/cell_box.hpp>
#include <longshore/core/random.hpp>
#include <longshore/exchange/field_view.hpp>
#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/halo_exchange.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {

/// The blocks of all ranks, and which points of the domain they have.
struct block_layout {
  using point = std::array<std::int64_t, 3>;

  std::vector<cell_box> blocks;  ///< they fill the domain
  cell_box domain;
  std::array<bool, 3> periodic{};
  int shared = 0;  ///< 1 for a field of vertices, 0 for a field of cells
  int width = 1;
  halo_reach reach = halo_reach::corners;
  /// The owner of points that several blocks have: the block on the low side, as in a grid of
  /// ranks, or the block with the lowest number, as in a layout of boxes.
  bool low_side_owns = true;

  [[nodiscard]] cell_box points(std::size_t block) const { return grown(blocks[block], 0, shared); }
  /// The points of a block and its halo.
  [[nodiscard]] cell_box region(std::size_t block) const {
    return grown(points(block), width, width);
  }
  /// Whether the point of the region of a block is a point of the domain within the reach.
  [[nodiscard]] bool is_filled(std::size_t block, const point& at) const {
    int steps = 0;
    const auto inside = points(block);
    for (int d = 0; d < 3; ++d) {
      steps += at[d] < inside.first[d] || at[d] >= inside.end(d) ? 1 : 0;
      const bool exists = at[d] >= domain.first[d] && at[d] < domain.end(d) + shared;
      if (!exists && !periodic[d]) return false;
    }
    return steps <= static_cast<int>(reach);
  }
  /// The same point of the domain, if dimensions are periodic.
  [[nodiscard]] point wrapped(point at) const {
    for (int d = 0; d < 3; ++d)
      if (periodic[d]) {
        const std::int64_t n = domain.cells[d], index = (at[d] - domain.first[d]) % n;
        at[d] = domain.first[d] + (index < 0 ? index + n : index);
      }
    return at;
  }
  /// Calls f(other, offset) for each block and each way around the domain by which point p of the
  /// region of `block` is point p + offset of the region of `other`. Lower numbers come first, and
  /// then lower offsets along z, y, x.
  template <class F>
  void for_each_image(std::size_t block, const F& f) const {
    const auto mine = region(block);
    for (std::size_t other = 0; other < blocks.size(); ++other) {
      const auto theirs = region(other);
      std::array<std::vector<std::int64_t>, 3> offsets;
      for (int d = 0; d < 3; ++d) {
        const std::int64_t n = domain.cells[d], above = theirs.first[d] - mine.end(d),
                           below = theirs.end(d) - mine.first[d];
        if (!periodic[d] && above < 0 && below > 0) offsets[d].push_back(0);
        if (periodic[d])
          for (std::int64_t offset = (above / n - 1) * n; offset < below; offset += n)
            if (offset > above) offsets[d].push_back(offset);
      }
      for (const auto z : offsets[2])
        for (const auto y : offsets[1])
          for (const auto x : offsets[0]) f(other, point{x, y, z});
    }
  }

  [[nodiscard]] static cell_box grown(cell_box box, int low, int high) {
    for (int d = 0; d < 3; ++d) box.first[d] -= low, box.cells[d] += low + high;
    return box;
  }
  [[nodiscard]] static cell_box moved(cell_box box, const point& by) {
    for (int d = 0; d < 3; ++d) box.first[d] += by[d];
    return box;
  }
  template <class F>
  static void for_each_point(const cell_box& box, const F& f) {
    for (std::int64_t z = box.first[2]; z < box.end(2); ++z)
      for (std::int64_t y = box.first[1]; y < box.end(1); ++y)
        for (std::int64_t x = box.first[0]; x < box.end(0); ++x) f(point{x, y, z});
  }
  [[nodiscard]] static bool contains(const cell_box& box, const point& at) {
    for (int d = 0; d < 3; ++d)
      if (at[d] < box.first[d] || at[d] >= box.end(d)) return false;
    return true;
  }
};

/// Fills the fields of one block, and checks them after an operation.
template <class T>
class block_check {
 public:
  using point = block_layout::point;

  /// `layout` must outlive the check.
  block_check(const block_layout& layout, halo_operation operation, std::size_t block)
      : layout_(layout),
        operation_(operation),
        block_(block),
        points_(layout.points(block)),
        region_(layout.region(block)) {}

  void fill(const field_view<T>& field, std::uint64_t tag) const {
    block_layout::for_each_point(region_,
                                 [&](const point& at) { cell(field, at) = before(tag, at); });
  }

  /// Describes the first wrong cell after `runs` operations since fill(), or returns nothing.
  [[nodiscard]] std::optional<std::string> first_wrong(const field_view<T>& field,
                                                       std::uint64_t tag, std::uint64_t runs) {
    std::optional<std::string> wrong;
    const auto expect = [&](const point& at, bool is_right, double right) {
      if (is_right || wrong) return;
      wrong = fmt::format("block {}: cell (z {}, y {}, x {}) is {}, expected {}", block_,
                          at[2] - points_.first[2], at[1] - points_.first[1],
                          at[0] - points_.first[0], cell(field, at), right);
    };
    if (operation_ == halo_operation::exchange) {
      block_layout::for_each_point(region_, [&](const point& at) {
        const T right = layout_.is_filled(block_, at) ? value(tag, at) : untouched_cell<T>;
        expect(at, cell(field, at) == right, static_cast<double>(right));
      });
      return wrong;
    }
    add_copies(tag);
    if (operation_ == halo_operation::accumulate) find_owned();
    block_layout::for_each_point(region_, [&](const point& at) {
      const std::int64_t own = copy_value(tag, block_, at);
      std::int64_t right = own;
      if (operation_ == halo_operation::assemble && layout_.is_filled(block_, at))
        right = sums_[index(at)];
      if (operation_ == halo_operation::accumulate && owned_[index(at)])
        right += static_cast<std::int64_t>(runs) * (sums_[index(at)] - own);
      expect(at, is_sum(cell(field, at), right), static_cast<double>(right));
    });
    return wrong;
  }

 private:
  // Copies are small whole numbers, so that T has their sums exactly.
  static constexpr int copy_bits = std::numeric_limits<T>::digits >= 53 ? 20 : 3;

  [[nodiscard]] T& cell(const field_view<T>& field, const point& at) const {
    return field(at[2] - points_.first[2], at[1] - points_.first[1], at[0] - points_.first[0]);
  }
  [[nodiscard]] std::size_t index(const point& at) const {
    return static_cast<std::size_t>(
        ((at[2] - region_.first[2]) * region_.cells[1] + at[1] - region_.first[1]) *
            region_.cells[0] +
        at[0] - region_.first[0]);
  }
  // The expected value of a point, if the operation is an exchange.
  [[nodiscard]] T value(std::uint64_t tag, const point& at) const {
    const auto [x, y, z] = layout_.wrapped(at);
    return cell_value<T>(row_seed(tag, y, z), x);
  }
  // The value that a block has at a point before an accumulate or assemble.
  [[nodiscard]] static std::int64_t copy_value(std::uint64_t tag, std::size_t block,
                                               const point& at) {
    const auto row = row_seed(mix_bits(tag) + block, at[1], at[2]);
    return 1 + static_cast<std::int64_t>(mix_bits(row ^ static_cast<std::uint64_t>(at[0])) >>
                                         (64 - copy_bits));
  }
  [[nodiscard]] T before(std::uint64_t tag, const point& at) const {
    if (operation_ != halo_operation::exchange) return static_cast<T>(copy_value(tag, block_, at));
    return block_layout::contains(points_, at) ? value(tag, at) : untouched_cell<T>;
  }
  // The sums of all copies of each point of the region.
  void add_copies(std::uint64_t tag) {
    sums_.assign(static_cast<std::size_t>(region_.count()), 0);
    layout_.for_each_image(block_, [&](std::size_t other, const point& offset) {
      const auto theirs = block_layout::moved(layout_.region(other), negative(offset));
      block_layout::for_each_point(intersection(region_, theirs), [&](const point& at) {
        const auto of_other = sum(at, offset);
        if (layout_.is_filled(other, of_other))
          sums_[index(at)] += copy_value(tag, other, of_other);
      });
    });
  }
  // Which points of the block this block owns.
  void find_owned() {
    owned_.assign(static_cast<std::size_t>(region_.count()), false);
    block_layout::for_each_point(points_, [&](const point& at) {
      bool is_owned = true;
      for (int d = 0; d < 3 && layout_.low_side_owns; ++d) {
        const bool has_low = layout_.periodic[d] || points_.first[d] > layout_.domain.first[d];
        is_owned = is_owned && at[d] >= points_.first[d] + (has_low ? layout_.shared : 0);
      }
      owned_[index(at)] = is_owned;
    });
    bool is_earlier = !layout_.low_side_owns;  // than this block, without an offset
    layout_.for_each_image(block_, [&](std::size_t other, const point& offset) {
      is_earlier = is_earlier && (other != block_ || offset != point{});
      if (!is_earlier) return;
      const auto theirs = block_layout::moved(layout_.points(other), negative(offset));
      block_layout::for_each_point(intersection(points_, theirs),
                                   [&](const point& at) { owned_[index(at)] = false; });
    });
  }
  // Whether a cell has the value of a sum. Beyond the whole numbers that T has, additions round:
  // each result is at least the last such number, and at most twice the sum.
  [[nodiscard]] static bool is_sum(T found, std::int64_t right) {
    constexpr auto last = static_cast<double>(std::uint64_t{1} << std::numeric_limits<T>::digits);
    const auto exact = static_cast<double>(right), value = static_cast<double>(found);
    return exact <= last ? value == exact : value >= last && value <= 2 * exact;
  }
  [[nodiscard]] static point sum(const point& a, const point& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
  }
  [[nodiscard]] static point negative(const point& a) { return {-a[0], -a[1], -a[2]}; }

  const block_layout& layout_;
  halo_operation operation_;
  std::size_t block_;
  cell_box points_, region_;
  std::vector<std::int64_t> sums_;
  std::vector<bool> owned_;
};

}  // namespace longshore::bench

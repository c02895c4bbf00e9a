// A box of cells in an index space.
#pragma once

#include <longshore/core/detail/min_max.hpp>

#include <array>
#include <cstdint>

namespace longshore {

/// The cells with first[d] <= index < first[d] + cells[d] along each dimension d, in the order x, y,
/// z. Unused dimensions have one cell, at the same index in all boxes.
struct cell_box {
  std::array<std::int64_t, 3> first{};
  std::array<std::int64_t, 3> cells{1, 1, 1};

  [[nodiscard]] constexpr std::int64_t end(int d) const noexcept { return first[d] + cells[d]; }
  [[nodiscard]] constexpr bool is_empty() const noexcept {
    return cells[0] <= 0 || cells[1] <= 0 || cells[2] <= 0;
  }
  [[nodiscard]] constexpr std::int64_t count() const noexcept {
    return is_empty() ? 0 : cells[0] * cells[1] * cells[2];
  }
  friend constexpr bool operator==(const cell_box&, const cell_box&) = default;
};

/// Returns the cells of both boxes. The box is empty if there are none.
[[nodiscard]] constexpr cell_box intersection(const cell_box& a, const cell_box& b) noexcept {
  cell_box both;
  for (int d = 0; d < 3; ++d) {
    both.first[d] = detail::larger(a.first[d], b.first[d]);
    both.cells[d] = detail::larger(detail::smaller(a.end(d), b.end(d)) - both.first[d], 0);
  }
  return both;
}

}  // namespace longshore

// Verifies halo exchanges in benchmarks and tests. fill_cells() gives each cell a value that
// depends on its coordinates in the domain. first_wrong_cell() checks the field and its halo cell
// by cell.
#pragma once

#include <longshore/core/random.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace longshore {

/// Where the block of a rank lies in the domain. Arrays are in the order x, y, z.
struct domain_block {
  std::array<std::ptrdiff_t, 3> first{};  ///< coordinates of the block's first cell in the domain
  std::array<std::ptrdiff_t, 3> cells{};  ///< cells of the whole domain
};

/// Returns where the block of this rank lies, if all ranks have blocks of the same extents.
[[nodiscard]] inline domain_block equal_block(const rank_grid& grid,
                                              const std::array<std::size_t, 3>& extents) noexcept {
  domain_block block;
  for (int d = 0; d < 3; ++d) {
    block.first[d] = grid.coordinates()[d] * static_cast<std::ptrdiff_t>(extents[d]);
    block.cells[d] = grid.shape()[d] * static_cast<std::ptrdiff_t>(extents[d]);
  }
  return block;
}

/// The value of halo cells that no message may fill. All other cells have other values.
template <class T>
inline constexpr T untouched_cell = std::is_signed_v<T> ? static_cast<T>(-1)
                                                        : std::numeric_limits<T>::max();

/// The seed of the cell values of the row at (y, z). `tag` distinguishes fields and exchanges.
[[nodiscard]] constexpr std::uint64_t row_seed(std::uint64_t tag, std::ptrdiff_t y,
                                               std::ptrdiff_t z) noexcept {
  return mix_bits(mix_bits(mix_bits(tag) ^ static_cast<std::uint64_t>(z)) ^
                  static_cast<std::uint64_t>(y));
}

/// Returns the value of cell x of the row with seed `row`. T represents the value exactly. The bits
/// are mixed so that neighbouring cells differ.
template <class T>
[[nodiscard]] constexpr T cell_value(std::uint64_t row, std::ptrdiff_t x) noexcept {
  constexpr int digits = std::numeric_limits<T>::digits;
  // untouched_cell of an unsigned type has all bits set. Values have one bit less, and so differ.
  constexpr int bits = std::is_signed_v<T> ? digits : digits - 1;
  return static_cast<T>(mix_bits(row ^ static_cast<std::uint64_t>(x)) >>
                        (64 - (bits < 63 ? bits : 63)));
}

/// Fills the interior with cell_value, and the halo with untouched_cell.
template <class T>
void fill_cells(const field_view<T>& field, const domain_block& block, std::uint64_t tag);
/// Like fill_cells() above, for blocks of the same extents on all ranks.
template <class T>
void fill_cells(const field_view<T>& field, const rank_grid& grid, std::uint64_t tag) {
  fill_cells(field, equal_block(grid, field.extents()), tag);
}

/// Describes the first wrong cell of the interior and the halo. Returns nothing if all cells are
/// right. Halo cells within `widths` and within the reach `filled` (halo_exchange::filled) must
/// have the values of their coordinates in the domain. Coordinates wrap around where the grid is
/// periodic. All other halo cells must have the value untouched_cell.
template <class T>
[[nodiscard]] std::optional<std::string> first_wrong_cell(const field_view<T>& field,
                                                          const domain_block& block,
                                                          std::uint64_t tag, const rank_grid& grid,
                                                          halo_reach filled,
                                                          const halo_widths& widths);
/// Like first_wrong_cell() above, for the reach that `algorithm` fills if the stencil needs
/// `needed`. Throws errc::usage for `automatic`.
template <class T>
[[nodiscard]] std::optional<std::string> first_wrong_cell(
    const field_view<T>& field, const domain_block& block, std::uint64_t tag, const rank_grid& grid,
    halo_algorithm algorithm, const halo_widths& widths, halo_reach needed = halo_reach::corners) {
  return first_wrong_cell(field, block, tag, grid, filled_by(algorithm, needed), widths);
}

namespace detail {

/// A cell's position along one dimension.
struct cell_index {
  int side = 0;  ///< the side of the block on which the cell lies: -1, 0 (interior) or +1
  std::optional<std::ptrdiff_t> in_domain;  ///< nothing if no exchange fills the cell
};

[[nodiscard]] inline cell_index locate(std::ptrdiff_t index, int d, std::size_t extent,
                                       const domain_block& block, const rank_grid& grid,
                                       const halo_widths& widths) noexcept {
  const auto cells = static_cast<std::ptrdiff_t>(extent);
  const int side = index < 0 ? -1 : index >= cells ? 1 : 0;
  if (index < -widths.low[d] || index >= cells + widths.high[d]) return {side, std::nullopt};
  std::ptrdiff_t in_domain = block.first[d] + index;
  const bool is_outside = in_domain < 0 || in_domain >= block.cells[d];
  if (is_outside && !grid.periodic()[d]) return {side, std::nullopt};
  if (is_outside) in_domain += in_domain < 0 ? block.cells[d] : -block.cells[d];
  return {side, in_domain};
}

}  // namespace detail

template <class T>
void fill_cells(const field_view<T>& field, const domain_block& block, std::uint64_t tag) {
  const auto& [nx, ny, nz] = field.extents();
  const auto& [low, high] = field.widths();
  const auto inside = [](std::ptrdiff_t i, std::size_t n) {
    return i >= 0 && i < static_cast<std::ptrdiff_t>(n);
  };
  for (std::ptrdiff_t z = -low[2]; z < static_cast<std::ptrdiff_t>(nz) + high[2]; ++z)
    for (std::ptrdiff_t y = -low[1]; y < static_cast<std::ptrdiff_t>(ny) + high[1]; ++y) {
      const std::uint64_t row = row_seed(tag, block.first[1] + y, block.first[2] + z);
      const bool has_interior = inside(y, ny) && inside(z, nz);
      for (std::ptrdiff_t x = -low[0]; x < static_cast<std::ptrdiff_t>(nx) + high[0]; ++x)
        field(z, y, x) = has_interior && inside(x, nx) ? cell_value<T>(row, block.first[0] + x)
                                                       : untouched_cell<T>;
    }
}

template <class T>
std::optional<std::string> first_wrong_cell(const field_view<T>& field, const domain_block& block,
                                            std::uint64_t tag, const rank_grid& grid,
                                            halo_reach filled, const halo_widths& widths) {
  const auto& extents = field.extents();
  const auto& memory = field.widths();
  const auto begin = [&](int d) { return static_cast<std::ptrdiff_t>(-memory.low[d]); };
  const auto end = [&](int d) { return static_cast<std::ptrdiff_t>(extents[d]) + memory.high[d]; };
  const int max_steps = static_cast<int>(filled);
  for (std::ptrdiff_t z = begin(2); z < end(2); ++z) {
    const auto at_z = detail::locate(z, 2, extents[2], block, grid, widths);
    for (std::ptrdiff_t y = begin(1); y < end(1); ++y) {
      const auto at_y = detail::locate(y, 1, extents[1], block, grid, widths);
      const std::uint64_t row =
          row_seed(tag, at_y.in_domain.value_or(0), at_z.in_domain.value_or(0));
      for (std::ptrdiff_t x = begin(0); x < end(0); ++x) {
        const auto at_x = detail::locate(x, 0, extents[0], block, grid, widths);
        const halo_direction side{{at_x.side, at_y.side, at_z.side}};
        const bool is_filled =
            at_x.in_domain && at_y.in_domain && at_z.in_domain && side.step_count() <= max_steps;
        const T expected = is_filled ? cell_value<T>(row, *at_x.in_domain) : untouched_cell<T>;
        const T value = field(z, y, x);
        if (value == expected) continue;
        return fmt::format(
            "rank {}: cell (z {}, y {}, x {}) on side ({}, {}, {}) is {}, expected {}{}",
            grid.ranks().rank(), z, y, x, at_z.side, at_y.side, at_x.side, value, expected,
            is_filled ? "" : " because no message fills it");
      }
    }
  }
  return std::nullopt;
}

}  // namespace longshore

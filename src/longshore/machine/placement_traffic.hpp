// The bytes of a halo exchange that cross each level of the machine, for a given placement. Exact,
// in closed form. The search for placements minimises them.
#pragma once

#include <longshore/machine/placement.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore {

/// The data that every rank of a grid exchanges with its neighbours: the halo of a block of cells.
/// Unused dimensions have 1 cell and no halo.
struct halo_load {
  std::array<std::int64_t, 3> cells{64, 64, 64};
  std::array<int, 3> low{1, 1, 1}, high{1, 1, 1};  ///< cells of halo on the low and the high side
  std::int64_t bytes_per_cell = 8;                 ///< of all fields together
  std::array<bool, 3> periodic{true, true, true};
  bool faces_only = false;  ///< false: edges and corners too, 26 messages in 3 dimensions

  /// The same load in the first `dimensions` only.
  [[nodiscard]] halo_load in(int dimensions) const noexcept;
};

/// Bytes of one exchange of all ranks, by the outermost level that they cross: between nodes, else
/// between sockets of a node, and so on. Along a periodic dimension of one rank, the rank is its
/// own neighbour; these bytes are not traffic.
struct level_crossing {
  std::vector<std::int64_t> bytes;  ///< by level, from the outermost in
  std::int64_t total = 0;           ///< their sum

  /// Fraction of all traffic that crosses this level or one around it; 0 without any traffic. At
  /// level 0 this is the off-node traffic.
  [[nodiscard]] double fraction_beyond(std::size_t level) const noexcept;
  /// Fraction of all traffic whose outermost crossing is this level.
  [[nodiscard]] double fraction(std::size_t level) const noexcept;
};

/// The crossings of a hierarchical placement, in O(levels). A dimension of S ranks has S links in
/// each direction if it is periodic (two for two ranks), else S - 1. In blocks of b ranks,
/// S / b (b - 1) of them stay in a block, or all if b = S. Numbers of several dimensions multiply.
/// Throws errc::usage if the bytes do not fit into 63 bits.
[[nodiscard]] level_crossing crossing_of(const placement& placed, const halo_load& load);

/// The crossings of a placement by rows on a machine with these levels, in O(26 x rows x levels).
/// Throws errc::usage unless the grid has as many ranks as the levels have places.
[[nodiscard]] level_crossing crossing_of(const rank_order& order,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

[[nodiscard]] level_crossing crossing_of(const arrangement& arranged,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

/// Bytes of messages within a block if a grid of `shape` is cut into blocks: both ends lie in the
/// same block. Includes bytes of a rank to itself.
[[nodiscard]] std::int64_t bytes_within(const grid_triple& shape, const grid_triple& block,
                                        const halo_load& load) noexcept;

/// Throws errc::usage unless all numbers are valid, and the bytes of all ranks and their sums fit
/// into 63 bits.
void check_countable(const grid_triple& shape, const halo_load& load);

}  // namespace longshore

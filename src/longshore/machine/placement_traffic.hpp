// The bytes of a halo exchange that cross each level of the machine: exact, in closed form. The
// search for placements minimises these bytes.
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
  std::array<int, 3> low{1, 1, 1}, high{1, 1, 1};  ///< cells of halo on each side
  std::int64_t bytes_per_cell = 8;                 ///< total of all fields
  std::array<bool, 3> periodic{true, true, true};
  bool faces_only = false;  ///< if false, also edges and corners: 26 messages in 3D

  /// The same load in the first `dimensions` dimensions only.
  [[nodiscard]] halo_load restricted_to(int dimensions) const noexcept;
};

/// Bytes of one exchange of all ranks, by the outermost level that the bytes cross: between nodes,
/// else between sockets of a node, and so on. Bytes that a rank sends to itself, along a periodic
/// dimension of one rank, are not traffic.
struct level_crossing {
  std::vector<std::int64_t> bytes;  ///< by level, from the outermost in
  std::int64_t total = 0;           ///< sum of `bytes`

  /// Fraction of all traffic that crosses this level or a level around it; 0 without traffic.
  [[nodiscard]] double fraction_beyond(std::size_t level) const noexcept;
  /// Fraction of all traffic whose outermost crossing is this level.
  [[nodiscard]] double fraction(std::size_t level) const noexcept;
};

/// The crossings of a hierarchical placement, in O(levels). A dimension of S ranks has S links in
/// each direction if the dimension is periodic (also for S = 2), else S - 1 links. With blocks of b
/// ranks, S / b x (b - 1) links stay in a block, or all links if b = S. The numbers of links of the
/// dimensions multiply. Throws errc::usage if the bytes do not fit into 63 bits.
[[nodiscard]] level_crossing crossing_of(const placement& placed, const halo_load& load);

/// The crossings of a rank order on a machine with these levels, in O(26 x lines x levels), where
/// lines of ranks lie along the fastest dimension. Throws errc::usage unless the grid has as many
/// ranks as the levels have positions.
[[nodiscard]] level_crossing crossing_of(const rank_order& order,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

/// Bytes of all messages with sender and receiver in the same block, if a grid of extents `shape`
/// is cut into blocks of extents `block`. Includes bytes that a rank sends to itself.
[[nodiscard]] std::int64_t bytes_within(const grid_triple& shape, const grid_triple& block,
                                        const halo_load& load) noexcept;

/// Throws errc::usage unless all numbers of `load` are valid, and sums of bytes over all ranks of
/// the grid fit into 63 bits.
void check_load(const grid_triple& shape, const halo_load& load);

}  // namespace longshore

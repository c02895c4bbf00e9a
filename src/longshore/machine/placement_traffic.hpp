// How many bytes of a halo exchange cross each level of the machine, for a placement: exact, in
// closed form. What decides between placements.
#pragma once

#include <longshore/machine/placement.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore {

/// What every rank of a grid exchanges with its neighbours: the halo of a block of cells. In fewer
/// than 3 dimensions the others have 1 cell and no halo.
struct halo_load {
  std::array<std::int64_t, 3> cells{64, 64, 64};
  std::array<int, 3> low{1, 1, 1}, high{1, 1, 1};  ///< cells of halo on the low and the high side
  std::int64_t bytes_per_cell = 8;                 ///< of all fields together
  std::array<bool, 3> periodic{true, true, true};
  bool faces_only = false;  ///< else edges and corners too: 26 messages in 3 dimensions

  /// The same in the first `dimensions` only.
  [[nodiscard]] halo_load in(int dimensions) const noexcept;
};

/// Bytes of one exchange of all ranks by the outermost level that they cross: between nodes, else
/// between sockets of a node, and so on. What a rank sends to itself, being its own neighbour along
/// a periodic dimension of one rank, is not traffic.
struct level_crossing {
  std::vector<std::int64_t> bytes;  ///< by level, from the outermost in
  std::int64_t total = 0;           ///< their sum

  /// Share of all traffic that crosses this level or one around it; 0 where there is no traffic at
  /// all. [0]: off-node.
  [[nodiscard]] double fraction_beyond(std::size_t level) const noexcept;
  /// Share of all traffic whose outermost crossing is this level.
  [[nodiscard]] double fraction(std::size_t level) const noexcept;
};

/// For a hierarchical placement. Along one dimension of S ranks in blocks of b there are S links in
/// each direction when periodic (two for two ranks), else S - 1, and S / b (b - 1) of them stay in
/// a block, all when b = S; over dimensions they multiply. O(levels). Throws errc::usage when the
/// bytes do not fit into 63 bits.
[[nodiscard]] level_crossing crossing_of(const placement& placed, const halo_load& load);

/// For positions in the order of rows, on a machine whose positions are grouped by `levels`. O(26 x
/// rows x levels). Throws errc::usage when the grid has not as many ranks as the levels have
/// places.
[[nodiscard]] level_crossing crossing_of(const rank_order& order,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

[[nodiscard]] level_crossing crossing_of(const arrangement& arranged,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

/// Bytes of all ranks, those to themselves included, whose two ends lie in the same block when a
/// grid of `shape` is cut into blocks.
[[nodiscard]] std::int64_t bytes_within(const grid_triple& shape, const grid_triple& block,
                                        const halo_load& load) noexcept;

/// Throws errc::usage unless the bytes of all ranks, and the sums of such, can be counted in 63
/// bits, and all numbers make sense.
void check_countable(const grid_triple& shape, const halo_load& load);

}  // namespace longshore

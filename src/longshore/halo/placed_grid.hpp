// The placement of a grid of ranks on the hardware: which rank has which coordinates, and how many
// bytes of a halo exchange cross each level of the hardware. rank_grid.hpp is the user's interface.
#pragma once

#include <longshore/core/name_lookup.hpp>
#include <longshore/halo/direction.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/machine/placement_traffic.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

struct rank_locations;

/// How ranks get their coordinates in a grid.
enum class grid_placement {
  linear,     ///< rank = x + X (y + Y z)
  cart,       ///< MPI's Cartesian order: rank = z + Z (y + Y x), in the grid of MPI_Dims_create
  automatic,  ///< least traffic between distant ranks; never more bytes between nodes than cart
  levels      ///< the user gives a grid for each level of the machine
};
template <>
inline constexpr enum_names<4> all_names<grid_placement> = {"placement",
                                                            {"linear", "cart", "auto", "levels"}};

/// How the ranks of a grid are arranged. Arrays are in the order x, y, z. Entries beyond
/// `dimensions` are ignored.
struct grid_options {
  int dimensions = 3;
  std::array<int, 3> ranks{};  ///< ranks along each dimension; 0 leaves the choice to the library
  std::array<bool, 3> periodic{true, true, true};
  /// The cells of the whole domain. The grid then cuts the domain into blocks of the least surface.
  /// If the cells are 0, the factors of the grid are balanced.
  std::array<std::size_t, 3> cells{};
  grid_placement placement = grid_placement::linear;
  /// For placement `levels`: a grid for each of node, socket, numa, l3 and core, outermost first.
  /// The ranks of a level that is left out belong to the next given level.
  std::vector<placement_level> levels = {};
  /// For placement `automatic`: the messages of the exchange. Their periodicity is `periodic` of
  /// these options. By default equal messages go through all faces.
  std::optional<halo_load> load = {};
};

/// The mapping from coordinates to ranks in one team. Memory: none for placements linear and cart,
/// else 4 bytes per rank of the team.
struct placed_grid {
  grid_triple shape{1, 1, 1}, strides{};
  /// The rank for each index. An index is the sum of coordinates times strides. If the pointer is
  /// null, the index is the rank.
  std::shared_ptr<const std::vector<int>> rank_of;
  /// The decomposition of placements `levels` and `automatic`, unless an order of rows was chosen.
  std::optional<placement> by_levels;
  /// "linear", "cart", "levels", or another order of rows such as "yxz".
  std::string kind;
  /// The reason why levels of the hardware are not used, or "".
  std::string note;

  [[nodiscard]] int rank_at(const grid_triple& at) const noexcept {
    const int index = at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
    return rank_of ? (*rank_of)[static_cast<std::size_t>(index)] : index;
  }
  /// Takes O(ranks) if `rank_of` is not null, else O(1).
  [[nodiscard]] grid_triple coordinates_of(int rank) const noexcept;
  /// Returns the coordinates one step away, or nothing if they are beyond a border.
  [[nodiscard]] std::optional<grid_triple> step_from(
      const grid_triple& at, const halo_direction& direction,
      const std::array<bool, 3>& periodic) const noexcept;
};

/// Local for placements linear and cart. Collective for the other placements, with the same options
/// on all ranks. Throws errc::usage on all ranks if the grid or its levels do not fit the ranks and
/// their hardware. The message names the level, the given number and the number on the hardware.
[[nodiscard]] placed_grid place_grid(team& team, const grid_options& options);
/// Like place_grid() above, for ranks whose locations are known.
[[nodiscard]] placed_grid place_grid(team& team, const grid_options& options,
                                     const rank_locations& locations);

/// Collective. Counts the bytes that cross each level. Every rank counts its own messages. So the
/// result is right even if nodes have different numbers of ranks, or consecutive ranks lie on
/// different nodes.
[[nodiscard]] level_crossing count_crossing(team& team, const placed_grid& grid,
                                            const rank_locations& locations, const halo_load& load);

}  // namespace longshore

// A grid of ranks placed on the hardware: which rank has which coordinates, and how many bytes of a
// halo exchange cross each level then.
#pragma once

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

struct hardware_places;

/// Which rank sits where in a grid.
enum class grid_placement {
  linear,     ///< rank = x + X (y + Y z)
  cart,       ///< MPI's Cartesian order: rank = z + Z (y + Y x), in the grid of MPI_Dims_create
  automatic,  ///< the least traffic between distant ranks: never more bytes between nodes than cart
  levels      ///< a grid for each level of the machine, given by hand
};
/// "linear", "cart", "auto", "levels", in the order of the values.
[[nodiscard]] std::span<const std::string_view> grid_placement_names() noexcept;
[[nodiscard]] std::string_view name_of(grid_placement placement) noexcept;
/// Throws errc::usage for a name that there is not.
[[nodiscard]] grid_placement grid_placement_from(std::string_view name);

/// How ranks are arranged. Arrays are in the order x, y, z; what lies beyond `dimensions` is
/// ignored.
struct grid_options {
  int dimensions = 3;
  std::array<int, 3> ranks{};  ///< ranks along each dimension; 0: found
  std::array<bool, 3> periodic{true, true, true};
  /// Cells of the whole domain, when the grid that is found should cut it with the least surface;
  /// zeros: factors are balanced.
  std::array<std::size_t, 3> cells{};
  grid_placement placement = grid_placement::linear;
  /// For `levels`: grids of node, socket, numa, l3, core, from the outermost in. One that is left
  /// out is filled by the next one given.
  std::vector<placement_level> levels = {};
  /// For `automatic`: what is exchanged. Its periodicity is taken from `periodic`; nothing: equal
  /// faces.
  std::optional<halo_load> load = {};
};

/// Coordinates to ranks for one team. Memory: nothing per rank for linear and cart, else 4 bytes
/// per rank of the team.
struct placed_grid {
  grid_triple shape{1, 1, 1}, strides{};
  /// by what the strides give; null: that is the rank
  std::shared_ptr<const std::vector<int>> rank_of;
  /// what `levels` and `automatic` decompose by; none where rows won
  std::optional<placement> by_levels;
  /// "linear", "cart", "levels", or another order of rows, as "yxz"
  std::string kind;
  /// what kept levels of the hardware from being used; ""
  std::string note;

  [[nodiscard]] int rank_at(const grid_triple& at) const noexcept {
    const int index = at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
    return rank_of ? (*rank_of)[static_cast<std::size_t>(index)] : index;
  }
  /// In O(ranks) where there is a table.
  [[nodiscard]] grid_triple coordinates_of(int rank) const noexcept;
  /// One step away; nothing beyond a border.
  [[nodiscard]] std::optional<grid_triple> step_from(
      const grid_triple& at, const halo_direction& direction,
      const std::array<bool, 3>& periodic) const noexcept;
};

/// Local for linear and cart. Collective for the others, with the same options on all ranks. Throws
/// errc::usage, on all ranks alike, when the grid or its levels do not fit the ranks and the
/// hardware they are on: the error names the level, what was given and what there is.
[[nodiscard]] placed_grid place_grid(team& team, const grid_options& options);
/// The same on hardware that is known already.
[[nodiscard]] placed_grid place_grid(team& team, const grid_options& options,
                                     const hardware_places& places);

/// Collective. What really crosses each level, counted message by message by the ranks that send
/// them: also right where nodes have different numbers of ranks, or ranks are numbered across the
/// nodes.
[[nodiscard]] level_crossing count_crossing(team& team, const placed_grid& grid,
                                            const hardware_places& places, const halo_load& load);

}  // namespace longshore

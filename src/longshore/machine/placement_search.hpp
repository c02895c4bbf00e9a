// Finds the placement with the lowest weighted traffic between levels of the machine, by an exact
// search over all factorisations of every level.
#pragma once

#include <longshore/machine/placement.hpp>
#include <longshore/machine/placement_traffic.hpp>

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace longshore {

/// A map between positions and coordinates in the grid of ranks: a placement by levels or a rank order,
/// whichever a search finds best.
using arrangement = std::variant<placement, rank_order>;

[[nodiscard]] grid_triple shape_of(const arrangement& arranged) noexcept;
[[nodiscard]] grid_triple coordinates_of(const arrangement& arranged, int position) noexcept;
[[nodiscard]] int position_at(const arrangement& arranged, const grid_triple& coordinates) noexcept;

[[nodiscard]] level_crossing crossing_of(const arrangement& arranged,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

/// The cost of a byte that crosses a level, per level from the outermost in. A level costs eight
/// times as much as the next inner level. Eight exceeds the ratios of bandwidth between levels, so
/// bytes inside a node decide only between placements with about equal traffic between nodes. The
/// nodes of the published halo study (64 ranks) have above 2000 GB/s in 32 last-level caches, some
/// 400 GB/s in memory, some 100 GB/s between sockets, and 25 GB/s in the network.
[[nodiscard]] std::vector<double> default_level_weights(std::span<const hardware_level> levels);

/// Sum over the levels of weight x bytes.
[[nodiscard]] double weighted_cost(const level_crossing& crossing, std::span<const double> weights);

struct search_options {
  int dimensions = 3;
  /// Ranks along each dimension; mpi_dims_create replaces entries of 0. All compared placements
  /// have this grid and solve the same problem.
  grid_triple grid{};
  /// If true, the search tries all grids. Then only MPI's Cartesian order, the comparison, has
  /// `grid`. Another grid means another domain if each rank has a block of fixed size. With
  /// periodic dimensions long chains of ranks then win, because data from a rank to itself is not
  /// traffic.
  bool any_grid = false;
  std::vector<double> weights = {};  ///< by level; if empty, default_level_weights
};

/// The result of a search, and MPI's Cartesian order for comparison.
struct found_placement {
  arrangement arranged;
  level_crossing crossing;
  double cost = 0;
  /// "levels" for a hierarchical placement, else the rank order: "cart" (z fastest), "linear" (x
  /// fastest), or for instance "yxz"
  std::string kind;
  level_crossing cart_crossing;
  double cart_cost = 0;
};

/// Finds the placement with the lowest weighted cost on a machine of these levels. Candidates are
/// all hierarchical placements and the six rank orders, except those with more off-node bytes than
/// MPI's Cartesian order on MPI's own grid. So the result is never worse than MPI's order, in cost
/// or in off-node bytes. Off-node bytes cross level "node" or a level around it, or the outermost
/// level if no level is called "node".
///
/// Among candidates of equal cost, a hierarchical placement wins. Among equal hierarchical
/// placements, the one that cuts z most at the outermost level wins, because faces across z are
/// contiguous in memory.
///
/// The traffic inside an object depends only on the object's own block. So the search works level
/// by level (dynamic programming over the divisors of the grid), and takes milliseconds for
/// thousands of nodes. Throws errc::usage if the grid does not fit the number of positions, or the
/// weights do not fit the levels.
[[nodiscard]] found_placement find_placement(std::span<const hardware_level> levels,
                                             const halo_load& load,
                                             const search_options& options = {});

/// The number of outer levels whose crossings are off-node: 1 + the index of level "node", or 1
/// without a level "node".
[[nodiscard]] std::size_t levels_off_node(std::span<const hardware_level> levels) noexcept;

}  // namespace longshore

// Finds the placement with the least traffic between distant ranks: exhaustive over the
// factorisations of every level, and exact.
#pragma once

#include <longshore/machine/placement.hpp>
#include <longshore/machine/placement_traffic.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// What a byte costs that crosses each level, from the outermost in: eight times as much as at the
/// next level within. A machine has ever less bandwidth per rank the further out: on a node with 64
/// ranks of the published halo study the network gives 25 GB/s, the link between sockets some 100,
/// memory some 400, and the 32 last-level caches above 2000. Eight, more than these ratios, lets
/// bytes inside a node decide only between placements that are about equal between nodes.
[[nodiscard]] std::vector<double> default_level_weights(std::span<const hardware_level> levels);

/// Sum over the levels of weight x bytes.
[[nodiscard]] double weighted_cost(const level_crossing& crossing, std::span<const double> weights);

struct search_options {
  int dimensions = 3;
  /// Ranks along each dimension. Entries that are 0 are found: as MPI_Dims_create finds them, so
  /// that what is compared is the same problem.
  grid_triple grid{};
  /// Instead: any grid. With blocks of a fixed size per rank another grid is another domain, and in
  /// a periodic one long chains of ranks win, because what a rank sends to itself is no traffic.
  bool any_grid = false;
  std::vector<double> weights = {};  ///< by level; empty: default_level_weights
};

/// What was found, and MPI's Cartesian order to compare with.
struct found_placement {
  arrangement arranged;
  level_crossing crossing;
  double cost = 0;
  /// "levels", or the order of dimensions that was better: "cart", "linear", "yxz"
  std::string kind;
  level_crossing cart_crossing;
  double cart_cost = 0;
};

/// Of all hierarchical placements on a machine of these levels, and of the six orders of rows, the
/// one with the least weighted cost among those with no more off-node bytes than MPI's Cartesian
/// order on MPI's own grid: never worse than that one in either. Off-node are the bytes that cross
/// level "node" or one around it; without a level of that name those that cross the outermost
/// level. Among equals hierarchical placements come first, and of those the one that cuts z most at
/// the outermost level, whose faces lie contiguous in memory. Cost: what lies inside an object
/// depends only on the object's own block, so that the best is found level by level (dynamic
/// programming over the divisors of the grid); milliseconds for thousands of nodes. Throws
/// errc::usage when the grid does not fit the number of places, or the weights do not fit the
/// levels.
[[nodiscard]] found_placement find_placement(std::span<const hardware_level> levels,
                                             const halo_load& load,
                                             const search_options& options = {});

/// The first level of those whose crossings are not off-node: 1 + the index of "node", or 1.
[[nodiscard]] std::size_t levels_off_node(std::span<const hardware_level> levels) noexcept;

}  // namespace longshore

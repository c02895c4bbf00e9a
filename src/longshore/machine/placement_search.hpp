// Finds the placement with the least weighted traffic between levels of the machine, by an exact
// search over all factorisations of every level.
#pragma once

#include <longshore/machine/placement.hpp>
#include <longshore/machine/placement_traffic.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// The cost of a byte that crosses each level, from the outermost in. Each level costs eight times
/// as much as the next inner one. Bandwidth per rank falls from level to level outwards: on a node
/// with 64 ranks of the published halo study, the 32 last-level caches give above 2000 GB/s, memory
/// some 400, the link between sockets some 100, the network 25. Eight exceeds these ratios, so
/// bytes inside a node decide only between placements with about equal traffic between nodes.
[[nodiscard]] std::vector<double> default_level_weights(std::span<const hardware_level> levels);

/// Sum over the levels of weight x bytes.
[[nodiscard]] double weighted_cost(const level_crossing& crossing, std::span<const double> weights);

struct search_options {
  int dimensions = 3;
  /// Ranks along each dimension. Entries of 0 are chosen as by MPI_Dims_create, so that all
  /// placements that are compared solve the same problem.
  grid_triple grid{};
  /// True: the search tries all grids, and `grid` applies only to MPI's Cartesian order, with which
  /// the result is compared. If each rank has a block of fixed size, another grid means another
  /// domain. With periodic dimensions long chains of ranks then win, because data that a rank sends
  /// to itself is not traffic.
  bool any_grid = false;
  std::vector<double> weights = {};  ///< by level; empty: default_level_weights
};

/// The result of a search, and MPI's Cartesian order for comparison.
struct found_placement {
  arrangement arranged;
  level_crossing crossing;
  double cost = 0;
  /// "levels" for a hierarchical placement, else the order of dimensions that was better: "cart",
  /// "linear", or for instance "yxz"
  std::string kind;
  level_crossing cart_crossing;
  double cart_cost = 0;
};

/// Finds the placement with the least weighted cost on a machine of these levels. Candidates are
/// all hierarchical placements and the six orders of rows, if they have no more off-node bytes than
/// MPI's Cartesian order on MPI's own grid. So the result is never worse than that order, in cost
/// or in off-node bytes. Off-node bytes cross level "node" or a level around it; without a level of
/// that name, they cross the outermost level.
///
/// Among equal candidates a hierarchical placement wins. Among these, the one wins that cuts z most
/// at the outermost level, because faces across z are contiguous in memory.
///
/// The traffic inside an object depends only on the object's own block. So the search works level
/// by level (dynamic programming over the divisors of the grid), and takes milliseconds for
/// thousands of nodes. Throws errc::usage if the grid does not fit the number of places, or the
/// weights do not fit the levels.
[[nodiscard]] found_placement find_placement(std::span<const hardware_level> levels,
                                             const halo_load& load,
                                             const search_options& options = {});

/// The number of outer levels whose crossings are off-node: 1 + the index of "node", or 1 without
/// such a level.
[[nodiscard]] std::size_t levels_off_node(std::span<const hardware_level> levels) noexcept;

}  // namespace longshore

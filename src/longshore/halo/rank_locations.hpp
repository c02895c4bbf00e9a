// Finds where the ranks of a team run on the hardware. Placements of grids (placed_grid.hpp) and
// the benchmark program use the result.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/machine/topology.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// The levels by which ranks are placed, from the outermost to the innermost. Level "core"
/// distinguishes the ranks of an l3: by cores, by hardware threads, or only by their order.
inline constexpr std::array<std::string_view, 5> location_levels = {"node", "socket", "numa", "l3",
                                                                    "core"};

/// The locations of all ranks of a team. Nodes are those of the team, including virtual nodes.
/// Memory: 4 bytes per rank of the team, and 24 during the search.
struct rank_locations {
  /// The levels of location_levels. The count of a level is the number of its objects in each
  /// object of the level before. Objects without ranks do not count. The count is 1 if the objects
  /// hold different numbers of ranks, or if ranks are not bound to a single object. An inner level
  /// then separates the ranks.
  std::vector<hardware_level> levels;
  /// The position of each rank along the hardware, from 0 to the number of ranks - 1. Ranks are
  /// sorted by node, and within a node by the CPU to which they are bound. Ranks without binding
  /// keep their order.
  std::vector<int> position_of;
  /// The reason why levels are not used, such as "ranks are not bound: their order on the node is
  /// used". Empty if all levels are used.
  std::string note;
  /// Whether all nodes have the same number of ranks. If not, grids cannot be decomposed by levels,
  /// and all counts are 1 except that of level "core", which is the number of ranks.
  bool even = true;

  /// The index of the outermost level at which two different ranks belong to different objects.
  [[nodiscard]] std::size_t level_between(const node_map& nodes, int rank,
                                          int other_rank) const noexcept;
};

/// Returns the CPUs to which the calling rank is bound. Tests pass a function of their own.
using binding_reader = detail::shared_function<std::vector<int>(int rank)>;

/// Collective: one allgather of 20 bytes per rank. A bound rank reads the topology of its host,
/// which takes milliseconds.
[[nodiscard]] rank_locations find_rank_locations(team& team);
/// Like find_rank_locations() above, if the topology of the calling rank's host is known.
[[nodiscard]] rank_locations find_rank_locations(team& team, const topology& host);
/// Like find_rank_locations() above, for ranks that are bound to the CPUs `bound(rank)` of hosts
/// with topology `host`. If `bound` returns no CPUs, the rank is not bound.
[[nodiscard]] rank_locations find_rank_locations(team& team, const topology& host,
                                                 const binding_reader& bound);

}  // namespace longshore

// Finds where the ranks of a team run on the hardware: the level that separates any two ranks, and
// their positions for machine/placement.
#pragma once

#include <longshore/machine/placement.hpp>
#include <longshore/machine/topology.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// The levels by which ranks are placed, from the outermost to the innermost. The last one
/// distinguishes the ranks of an l3: by cores, by hardware threads, or only by their order.
inline constexpr std::array<std::string_view, 5> location_levels = {"node", "socket", "numa", "l3",
                                                                    "core"};

/// The locations of all ranks of a team. Nodes are those of the team, including virtual ones.
/// Memory: 4 bytes per rank of the team, 24 while they are found.
struct rank_locations {
  /// Node, socket, numa, l3 and core. The count of a level is the number of its objects with ranks
  /// per object of the level before. It is 1 if the objects hold different numbers of ranks, or if
  /// ranks are not bound to one object; an inner level then separates the ranks.
  std::vector<hardware_level> levels;
  /// The position of each rank along the hardware: by node, then by the CPU that the rank is bound
  /// to, or by its number if it is not bound. A permutation.
  std::vector<int> position_of;
  /// For users: the reason why levels are not used, such as "ranks are not bound: their order on
  /// the node is used", or "".
  std::string note;
  /// Whether all nodes have the same number of ranks. If not, nothing can be decomposed, and levels
  /// is {node 1, ..., core ranks}.
  bool even = true;

  /// The outermost level at which two different ranks belong to different objects.
  [[nodiscard]] std::size_t level_between(const node_map& nodes, int one, int other) const noexcept;
};

/// Returns the CPUs that the calling rank is bound to. Tests pass a function of their own.
using binding_reader = std::function<std::vector<int>(int rank)>;

/// Collective: one allgather of 20 bytes per rank. A bound rank reads the topology of its host,
/// which takes milliseconds.
[[nodiscard]] rank_locations find_rank_locations(team& team);
/// The same with a known topology of the calling rank's host.
[[nodiscard]] rank_locations find_rank_locations(team& team, const topology& host);
/// The same for ranks that are bound to the CPUs `bound(rank)` of hosts with topology `host`.
[[nodiscard]] rank_locations find_rank_locations(team& team, const topology& host,
                                                 const binding_reader& bound);

/// @cond Old names, until the next version.
using hardware_places [[deprecated("use rank_locations")]] = rank_locations;
[[deprecated("use location_levels")]] inline constexpr auto places_levels = location_levels;
template <class... Arguments>
[[deprecated("use find_rank_locations")]] rank_locations find_hardware_places(
    team& team, const Arguments&... arguments) {
  return find_rank_locations(team, arguments...);
}
/// @endcond

}  // namespace longshore

// Where the ranks of a team are on the hardware: the level around any two of them, and positions in
// the sense of machine/placement.
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

/// Levels by which ranks are placed, from the outermost in. The last one is whatever tells the
/// ranks of an l3 apart: cores, their hardware threads, or only an order.
inline constexpr std::array<std::string_view, 5> places_levels = {"node", "socket", "numa", "l3",
                                                                  "core"};

/// All ranks of a team on the hardware. Nodes are those of the team, also virtual ones. Memory: 4
/// bytes per rank of the team; while it is found 24.
struct hardware_places {
  /// Node, socket, numa, l3, core, with ranks' objects per object of the level before. A level
  /// whose objects do not hold equally many ranks everywhere, or in which ranks are not bound,
  /// counts as 1, and the ranks are told apart further in.
  std::vector<hardware_level> levels;
  /// Positions along the hardware: node by node, and in a node by the CPU that a rank is bound to,
  /// else by its number. A permutation.
  std::vector<int> position_of;
  /// What kept levels from being used, for people: ""; "ranks are not bound: their order on the
  /// node is taken".
  std::string note;
  /// Whether all nodes have equally many ranks. If not, levels is {node 1, ..., core ranks}: there
  /// is nothing to decompose.
  bool even = true;

  /// The outermost level of which two different ranks are in different objects.
  [[nodiscard]] std::size_t level_between(const node_map& nodes, int one, int other) const noexcept;
};

/// Finds the CPUs that the calling rank is bound to; tests give others.
using binding_reader = std::function<std::vector<int>(int rank)>;

/// Collective: one allgather of 20 bytes per rank. Where a rank is bound its host's topology is
/// read, which takes milliseconds.
[[nodiscard]] hardware_places find_hardware_places(team& team);
/// The same where the topology of the calling rank's host is known.
[[nodiscard]] hardware_places find_hardware_places(team& team, const topology& host);
/// The same for ranks bound as `bound` says on hosts that look like `host`.
[[nodiscard]] hardware_places find_hardware_places(team& team, const topology& host,
                                                   const binding_reader& bound);

}  // namespace longshore

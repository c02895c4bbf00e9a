// Placement of the ranks of any graph on nodes, so that little of their traffic leaves the nodes.
// Grids of ranks have better placements (placement_search.hpp). This file is pure arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace longshore {

/// Data that one vertex of a graph sends to another, in bytes or any other unit.
struct graph_edge {
  int from = 0, to = 0;
  std::int64_t weight = 1;
};

/// Puts the vertices 0, 1, ... of a graph on as many positions, and returns the vertex at each
/// position. `node_of_position[p]` is the node of position p: any number from 0. The vertices of
/// each node are in ascending order. Edges may repeat. The direction of an edge does not matter,
/// nor does an edge from a vertex to itself.
///
/// Divides nodes and vertices in two halves, again and again. A half grows from a vertex at the rim
/// of the graph. Then it exchanges pairs of vertices with the other half while that reduces the
/// traffic (Kernighan and Lin, Bell System Technical Journal 1970). Gains are updated as by
/// Fiduccia and Mattheyses (DAC 1982). The result is never worse than vertex p at position p. Equal
/// graphs give equal placements. O(E log V) time per halving, and O(E + V) memory. Throws
/// errc::usage for an edge to a vertex that does not exist, or a negative weight.
[[nodiscard]] std::vector<int> place_graph(std::span<const graph_edge> edges,
                                           std::span<const int> node_of_position);

/// The sum of the weights of all edges between different nodes.
[[nodiscard]] std::int64_t weight_between_nodes(std::span<const graph_edge> edges,
                                                std::span<const int> vertex_at,
                                                std::span<const int> node_of_position);

}  // namespace longshore

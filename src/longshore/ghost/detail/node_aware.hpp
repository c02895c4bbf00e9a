// Strategies node-aware-2 and node-aware: fewer messages between nodes (A. Bienz, W. Gropp, L.
// Olson, "Node aware sparse matrix-vector multiplication", JPDC 2019, and MPI Advance). An element
// that several ranks of a node need crosses to that node once.
//
//   2 steps: the owner sends one message to each node that needs its elements, to the rank there
//            with the owner's place in the node (the gateway of the owner). The gateway spreads the
//            elements on its node.
//   3 steps: a collector on the owners' node joins the elements of all its ranks. So a pair of nodes
//            has one message, from a collector to a gateway. Nodes share their collectors and
//            gateways among their ranks.
//
// An accumulate takes the same way back. Contributions of ghosts travel separately to the owner,
// which combines them in the order of ranks, so they are not joined on the way.
//
// Messages of a rank between nodes, each way: 2 steps: one per node that needs its elements. 3
// steps: one per pair of nodes, divided by the ranks of a node. On a node: one, or two, to each
// gateway or collector, or direct reads. Memory: buffers for the elements that pass through.
#pragma once

#include <longshore/ghost/detail/ghost_program.hpp>

#include <memory>

namespace longshore::detail {

struct node_aware_programs {
  ghost_program update, accumulate;
  std::vector<std::size_t> buffer_elements;  ///< of the buffers of both programs
  std::shared_ptr<messenger> node_messenger;
};

/// Collective. `steps`: 2 or 3. Buffers of an operation that is not wanted are empty.
[[nodiscard]] node_aware_programs plan_node_aware(const ghost_links& links, int steps, bool updates,
                                                  bool accumulates);

}  // namespace longshore::detail

// Who sends to whom in a barrier between nodes. The transports send the messages.
#pragma once

#include <longshore/transport/node_map.hpp>

#include <cstddef>

namespace longshore::detail {

/// Dissemination among the first ranks of the nodes (Hensgen, Finkel, Manber 1988). In round k node
/// i sends to node i + 2^k, and then receives from node i - 2^k. After the last round each node has
/// information, direct or forwarded, from all nodes. Calls round(k, to, from), where `to` and
/// `from` are ranks.
template <class Round>
void disseminate(const node_map& nodes, const Round& round) {
  const auto leaders = nodes.leaders();
  const int node_count = nodes.node_count(), my_node = nodes.my_node();
  const auto leader = [&](int node) { return leaders[node]; };
  for (int distance = 1, k = 0; distance < node_count; distance *= 2, ++k)
    round(k, leader((my_node + distance) % node_count),
          leader((my_node - distance + node_count) % node_count));
}

}  // namespace longshore::detail

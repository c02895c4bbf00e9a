// The order of messages of a barrier between nodes. The transport sends them.
#pragma once

#include <longshore/transport/node_map.hpp>

#include <cstddef>

namespace longshore::detail {

/// Dissemination (Hensgen, Finkel, Manber 1988) among the first ranks of the nodes: in round k node
/// i sends to node i + 2^k, and then receives from node i - 2^k. After the last round each node has
/// information, direct or forwarded, from all. Calls round(k, to, from) with the ranks.
template <class Round>
void disseminate(const node_map& nodes, const Round& round) {
  const auto leaders = nodes.leaders();
  const int node_count = nodes.node_count(), mine = nodes.my_node();
  const auto leader = [&](int node) { return leaders[static_cast<std::size_t>(node)]; };
  for (int distance = 1, k = 0; distance < node_count; distance *= 2, ++k)
    round(k, leader((mine + distance) % node_count),
          leader((mine - distance + node_count) % node_count));
}

}  // namespace longshore::detail

// The part of a barrier that happens between nodes, whatever carries its messages.
#pragma once

#include <longshore/transport/node_map.hpp>

#include <cstddef>

namespace longshore::detail {

/// Dissemination (Hensgen, Finkel, Manber 1988) among the nodes' first ranks: in round k node i
/// tells node i + 2^k, and then hears node i - 2^k; after the last round each has heard of all.
/// Calls round(k, to, from) with their ranks.
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

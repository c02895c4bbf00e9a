// Chooses the groups of a route: the nodes if they divide the ranks usefully, else groups of
// P^(1/hops) ranks for P ranks, because this size needs the fewest buffers.
#include <longshore/aggregate/detail/choose_groups.hpp>

#include <algorithm>
#include <cmath>

namespace longshore::detail {

rank_groups choose_groups(const node_map& nodes, int ranks, int hops, int group_ranks) {
  if (group_ranks > 0) return rank_groups(ranks, group_ranks);
  if (hops < 2 || (nodes.node_count() > 1 && nodes.largest_node() > 1)) return rank_groups(nodes);
  const double size = hops == 2 ? std::sqrt(ranks) : std::cbrt(ranks);
  return rank_groups(ranks, std::max(1, static_cast<int>(std::lround(size))));
}

}  // namespace longshore::detail

// Chooses the groups of ranks between which a conveyor of several hops routes items.
#pragma once

#include <longshore/aggregate/detail/route.hpp>

namespace longshore::detail {

/// Groups of `group_ranks` consecutive ranks if `group_ranks` is not 0. Otherwise the nodes, if
/// there are several nodes and one of them has several ranks. Otherwise groups of the size L that
/// needs the fewest buffers: with P ranks, P/L + L buffers for 2 hops and P/L^2 + 2 L for 3 hops.
[[nodiscard]] rank_groups choose_groups(const node_map& nodes, int ranks, int hops,
                                        int group_ranks);

}  // namespace longshore::detail

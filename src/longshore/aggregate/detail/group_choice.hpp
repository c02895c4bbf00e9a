// Which groups a conveyor of several hops is laid over when none are given.
#pragma once

#include <longshore/aggregate/detail/route.hpp>

namespace longshore::detail {

/// `group_ranks` consecutive ranks each where that is not 0; else the nodes where they help, else
/// the groups with the fewest buffers: P/L + L with 2 hops, P/L^2 + 2 L with 3.
[[nodiscard]] rank_groups choose_groups(const node_map& nodes, int ranks, int hops,
                                        int group_ranks);

}  // namespace longshore::detail

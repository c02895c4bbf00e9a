// Chooses the groups of ranks that a conveyor of several hops routes over.
#pragma once

#include <longshore/aggregate/detail/route.hpp>

namespace longshore::detail {

/// Groups of `group_ranks` consecutive ranks if `group_ranks` is not 0. Otherwise the nodes, if
/// there are several nodes and one of them has several ranks. Otherwise groups of the size that
/// needs the fewest buffers: P/L + L with 2 hops, P/L^2 + 2 L with 3.
[[nodiscard]] rank_groups choose_groups(const node_map& nodes, int ranks, int hops,
                                        int group_ranks);

}  // namespace longshore::detail

// Algorithm hybrid: what lies on the same node goes straight from its owner, through faces, edges
// and corners; only what comes from other nodes is staged, one dimension after the other. In mode
// direct the first is one copy and no message.
//
// Cost per rank of a node of p x q x r ranks with neighbours on other nodes: on the node as
// standard, in the first of d rounds; between nodes at most 2d messages (6) in d dependent rounds,
// and inside the node at most 2d more that carry on what came from outside. As many cells as
// standard.
#pragma once

#include <longshore/halo/algorithm.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> hybrid_rounds(const rank_grid& grid,
                                                    std::span<const halo_part> fields,
                                                    halo_reach reach);

}  // namespace longshore::detail

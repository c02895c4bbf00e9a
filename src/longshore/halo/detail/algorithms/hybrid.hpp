// Algorithm hybrid: halo owned by ranks of the same node comes straight from its owner, through
// faces, edges and corners. Halo owned by ranks of other nodes is staged, one dimension after the
// other. In mode direct the part on the node is one copy and no message.
//
// Cost per rank of a node of p x q x r ranks with neighbours on other nodes: on the node as
// standard, in the first of d rounds; between nodes at most 2d messages (6) in d dependent rounds,
// and on the node at most 2d more that pass on halo from other nodes. As many cells as standard.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> hybrid_rounds(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach);

}  // namespace longshore::detail

// Algorithm hybrid. Halo cells of ranks of the same node come directly from their owners, through
// faces, edges and corners. Halo cells of ranks of other nodes are staged, one dimension after
// another. In mode direct the exchange on the node needs no messages.
//
// Cost per rank, d dimensions. On the node: the messages of algorithm standard in the first of d
// rounds, and at most 2d more messages that pass on halo cells from other nodes. Between nodes: at
// most 2d messages (6) in d dependent rounds. As many cells as standard.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> hybrid_rounds(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach);

}  // namespace longshore::detail

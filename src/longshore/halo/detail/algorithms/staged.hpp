// Algorithm staged: exchanges one dimension after another. Each message includes the halo that was
// received along earlier dimensions. So edges and corners travel through faces, in two or three
// steps. Dimensions with a single rank come last: every rank copies this halo itself, and no other
// message carries it.
//
// Cost per rank for d dimensions, blocks of a x b x c cells and h halo cells on all sides: 2d
// messages (6) in d dependent rounds, and 2h [bc + (a+2h) c + (a+2h)(b+2h)] = (a+2h)(b+2h)(c+2h) -
// abc cells, as many as algorithm standard. If the stencil reads no edges, algorithm faces is used,
// because a second step is not needed.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> staged_rounds(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach);

}  // namespace longshore::detail

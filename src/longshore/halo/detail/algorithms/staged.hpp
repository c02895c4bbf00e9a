// Algorithm staged: exchanges one dimension after the other. Each message includes the halo
// received in the dimensions before. So edges and corners travel through faces, in two or three
// steps. Dimensions with one rank come last, so that their halo, which every rank can copy itself,
// is not part of other messages.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 2d messages (6), d dependent
// rounds, 2h [bc + (a+2h) c + (a+2h)(b+2h)] = (a+2h)(b+2h)(c+2h) - abc cells: as many as standard.
// For a stencil that reads no edges it becomes algorithm faces, because no second step is needed.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> staged_rounds(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach);

}  // namespace longshore::detail

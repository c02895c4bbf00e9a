// Algorithm staged: one dimension after the other, each message with the halo that has come in the
// dimensions before. So edges and corners travel through faces, in two or three steps. Dimensions
// with one rank come last: what they add is the rank's own, and need not travel.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 2d messages (6), d dependent
// rounds, 2h [bc + (a+2h) c + (a+2h)(b+2h)] = (a+2h)(b+2h)(c+2h) - abc cells: as many as standard.
// A stencil that reads no edges needs no second step: then it is algorithm faces.
#pragma once

#include <longshore/halo/algorithm.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> staged_rounds(const rank_grid& grid,
                                                    std::span<const halo_part> fields,
                                                    halo_reach reach);

}  // namespace longshore::detail

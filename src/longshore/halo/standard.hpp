// Algorithm standard: one message to each neighbour that the stencil reaches, with the cells of all fields. Through faces, edges and
// corners, or less: algorithm faces is the same with 2d messages, for stencils that read no corners.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 3^d - 1 messages (26; 18 without corners, 6 through faces), 1
// round, (a+2h)(b+2h)(c+2h) - abc cells (through faces 2h (ab + bc + ca)).
#pragma once

#include <longshore/halo/algorithm.hpp>

namespace longshore {

[[nodiscard]] std::vector<halo_round> standard_rounds(const rank_grid& grid, std::span<const halo_part> fields, halo_reach reach);

}  // namespace longshore

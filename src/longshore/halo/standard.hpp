// Algorithm standard: one message to each neighbour, through faces, edges and corners, with the cells of all fields.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 3^d - 1 messages (26), 1 round,
// (a+2h)(b+2h)(c+2h) - abc cells.
#pragma once

#include <longshore/halo/algorithm.hpp>

namespace longshore {

[[nodiscard]] std::vector<halo_round> standard_rounds(const rank_grid& grid, std::span<const halo_part> fields);

}  // namespace longshore

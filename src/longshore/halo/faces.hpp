// Algorithm faces: one message through each face, for stencils that read no corners. Corners and edges of the halo are untouched.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 2d messages (6), 1 round, 2h (ab + bc + ca) cells.
#pragma once

#include <longshore/halo/algorithm.hpp>

namespace longshore {

[[nodiscard]] std::vector<halo_round> faces_rounds(const rank_grid& grid, std::span<const halo_part> fields);

}  // namespace longshore

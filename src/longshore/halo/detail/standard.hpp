// Algorithm standard: one message to each neighbour that the stencil reaches, with the cells of all
// fields. Through faces, edges and corners, or less: algorithm faces is the same with 2d messages,
// for stencils that read no corners.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 3^d - 1 messages (26; 18
// without corners, 6 through faces), 1 round, (a+2h)(b+2h)(c+2h) - abc cells (through faces 2h (ab
// + bc + ca)).
#pragma once

#include <longshore/halo/algorithm.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> standard_rounds(const rank_grid& grid,
                                                      std::span<const halo_part> fields,
                                                      halo_reach reach);

/// The same for modes in which what a rank sends to itself is a copy. Along dimensions with one
/// rank all cells are the rank's own, or have come from others before: so the halo there is copied
/// last, with that of the other dimensions, and only what is not the rank's own is sent: 3^k - 1
/// messages where k dimensions have several ranks. Rounds after the first move nothing between
/// ranks.
[[nodiscard]] std::vector<halo_round> standard_rounds_copied_last(const rank_grid& grid,
                                                                  std::span<const halo_part> fields,
                                                                  halo_reach reach);

}  // namespace longshore::detail

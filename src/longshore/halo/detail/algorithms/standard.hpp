// Algorithms standard and faces: one message to each neighbour that the stencil reaches, with the
// cells of all fields. Algorithm faces sends the 2d messages through faces only, for stencils that
// read no edges or corners.
//
// Cost per rank, d dimensions, block a x b x c, halo h on all sides: 3^d - 1 messages (26; 18
// without corners, 6 through faces), 1 round, (a+2h)(b+2h)(c+2h) - abc cells (through faces 2h (ab
// + bc + ca)).
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> standard_rounds(const rank_grid& grid,
                                                      std::span<const exchanged_field> fields,
                                                      halo_reach reach);

/// The same for modes that copy the messages of a rank to itself. A dimension with one rank needs
/// no messages: its halo is a copy of the rank's own cells and of halo received before. So the
/// first round sends 3^k - 1 messages, if k dimensions have several ranks, and the rounds after it
/// copy the halo of the other dimensions within the rank.
[[nodiscard]] std::vector<halo_round> standard_rounds_copied_last(
    const rank_grid& grid, std::span<const exchanged_field> fields, halo_reach reach);

}  // namespace longshore::detail

// Algorithms standard and faces: one message to each neighbour that the stencil reaches, with the
// cells of all fields. Algorithm faces sends messages through faces only, for stencils that read no
// edges or corners.
//
// Cost per rank for d dimensions, blocks of a x b x c cells and h halo cells on all sides: 3^d - 1
// messages (26; 18 without corners) in 1 round, and (a+2h)(b+2h)(c+2h) - abc cells. Through faces
// only: 2d messages (6) and 2h (ab + bc + ca) cells.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

namespace longshore::detail {

[[nodiscard]] std::vector<halo_round> standard_rounds(const rank_grid& grid,
                                                      std::span<const exchanged_field> fields,
                                                      halo_reach reach);

/// The same for modes that copy the messages of a rank to itself. The first round sends 3^k - 1
/// messages, where k is the number of dimensions with several ranks. Each later round fills the
/// halo along a dimension with a single rank: the rank copies its own cells, and halo that it
/// received before.
[[nodiscard]] std::vector<halo_round> standard_rounds_copied_last(
    const rank_grid& grid, std::span<const exchanged_field> fields, halo_reach reach);

}  // namespace longshore::detail

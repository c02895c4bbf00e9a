// Algorithms sequenced and staged-sequenced: exchange one field after another, with the messages of
// algorithm standard or staged, as in programs that call an exchange for each array.
//
// Cost per rank: for n fields, n times the messages and rounds of standard or staged, and as many
// cells.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <functional>

namespace longshore::detail {

using rounds_planner = std::function<std::vector<halo_round>(
    const rank_grid& grid, std::span<const exchanged_field> fields, halo_reach reach)>;

[[nodiscard]] std::vector<halo_round> sequenced_rounds(const rank_grid& grid,
                                                       std::span<const exchanged_field> fields,
                                                       halo_reach reach,
                                                       const rounds_planner& plan_one_field);

}  // namespace longshore::detail

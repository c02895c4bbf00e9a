// Algorithms sequenced and staged-sequenced: exchange one field after the other, each with the
// messages of standard or staged. Codes that call an exchange per array do the same.
//
// Cost per rank, n fields: n times the messages and rounds of standard or staged; as many cells.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <functional>

namespace longshore::detail {

using rounds_planner = std::function<std::vector<halo_round>(
    const rank_grid& grid, std::span<const exchanged_field> fields, halo_reach reach)>;

[[nodiscard]] std::vector<halo_round> sequenced_rounds(const rank_grid& grid,
                                                       std::span<const exchanged_field> fields,
                                                       halo_reach reach,
                                                       const rounds_planner& of_one_field);

}  // namespace longshore::detail

// Algorithms sequenced and staged-sequenced: field after field, each by the messages of standard or
// staged, as codes do that call an exchange for every array.
//
// Cost per rank, n fields: n times the messages and rounds of standard or staged; as many cells.
#pragma once

#include <longshore/halo/algorithm.hpp>

#include <functional>

namespace longshore::detail {

using rounds_planner = std::function<std::vector<halo_round>(
    const rank_grid& grid, std::span<const halo_part> fields, halo_reach reach)>;

[[nodiscard]] std::vector<halo_round> sequenced_rounds(const rank_grid& grid,
                                                       std::span<const halo_part> fields,
                                                       halo_reach reach,
                                                       const rounds_planner& of_one_field);

}  // namespace longshore::detail

// Calls the planner of an algorithm. Only plan_rounds.cpp knows all planners.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// The rounds of an exchange. A round may begin when the round before is complete. `self_copies`
/// tells that the mode copies the messages of a rank to itself, which may then come last
/// (standard.hpp). REQUIRES: not algorithm `automatic` (choose_algorithm.hpp).
[[nodiscard]] std::vector<halo_round> plan_rounds(halo_algorithm algorithm, const rank_grid& grid,
                                                  std::span<const exchanged_field> fields,
                                                  halo_reach reach = halo_reach::corners,
                                                  bool self_copies = false);

}  // namespace longshore::detail

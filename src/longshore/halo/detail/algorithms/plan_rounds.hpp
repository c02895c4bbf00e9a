// Calls the planner of an algorithm. Its list is the only place that knows all of them.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// The rounds of an exchange. A round may begin when the one before it is complete. `self_copies`:
/// the mode copies the messages of a rank to itself, so that they may come last (standard.hpp).
/// REQUIRES: not `automatic`, which chooses one of the others (choose_algorithm.hpp).
[[nodiscard]] std::vector<halo_round> plan_rounds(halo_algorithm algorithm, const rank_grid& grid,
                                                  std::span<const exchanged_field> fields,
                                                  halo_reach reach = halo_reach::corners,
                                                  bool self_copies = false);

}  // namespace longshore::detail

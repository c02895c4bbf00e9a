// Algorithm auto: times the other algorithms on memory of its own, laid out like the fields, and
// takes the fastest.
#pragma once

#include <longshore/halo/halo_exchange.hpp>

#include <vector>

namespace longshore::detail {

/// Collective; the same answer on all ranks. If all algorithms send the same messages (one rank, or
/// a stencil that reads no edges), the answer is standard, without a trial. Otherwise it tries
/// standard and staged, hybrid if there are several nodes of several ranks, and both sequenced
/// algorithms if there are 2 to 32 fields. They run by turns in seven rounds. The time of a round
/// is the maximum over the ranks, and the least time of an algorithm counts. Cost: some 30
/// exchanges of each algorithm, and during the trial as much memory as the fields and the plans
/// have. REQUIRES: the widths of the options fit the fields.
[[nodiscard]] halo_algorithm choose_algorithm(const rank_grid& grid, const halo_options& options,
                                              const std::vector<field_memory>& fields);

}  // namespace longshore::detail

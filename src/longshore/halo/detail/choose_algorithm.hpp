// Algorithm auto: tries the algorithms on memory of its own that lies as the fields do, and takes
// the fastest.
#pragma once

#include <longshore/halo/halo_exchange.hpp>

#include <vector>

namespace longshore::detail {

/// Collective; the same answer on all ranks. Where all algorithms send the same messages (one rank,
/// or a stencil that reads no edges) it is standard, without a trial. Else standard and staged are
/// tried, hybrid where there are several nodes of several ranks, and both sequenced ones where
/// there are up to 32 fields: the least time of seven rounds by turns, each the maximum over the
/// ranks. Cost: some 30 exchanges of each, and for that time memory as much as the fields and the
/// plans have. REQUIRES: the widths of the options fit the fields.
[[nodiscard]] halo_algorithm choose_algorithm(const rank_grid& grid, const halo_options& options,
                                              const std::vector<field_memory>& fields);

}  // namespace longshore::detail

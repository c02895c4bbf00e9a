// A directory of owned elements that is distributed over the ranks: finds the owners of global
// indices that follow no rule. The entry of an index lies on a rank that is computed from the index.
#pragma once

#include <longshore/ghost/ghost_graph.hpp>

#include <cstdint>
#include <span>

namespace longshore::detail {

/// The owners of indices, of which this rank owns `owned`. The first call of the locator makes the
/// directory, and must happen while `owned` exists. Calls exchange blocks between all ranks, by
/// alltoallv. Memory per rank: 24 bytes per owned element of a mean rank.
[[nodiscard]] ghost_locator locator_by_directory(std::span<const std::int64_t> owned);

}  // namespace longshore::detail

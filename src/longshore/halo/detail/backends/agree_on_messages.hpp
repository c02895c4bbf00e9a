// The two ends of a message must have the same cells.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <vector>

namespace longshore::detail {

/// Collective: a handshake with the neighbours, and one allreduce of 8 bytes. Throws errc::usage on
/// all ranks if a rank sends a message that is not the one that its receiver expects. One rank alone
/// would go on, and access cells that are not there. The first call for a grid with neighbours on
/// other nodes opens channels to them, of 8 KiB each.
void agree_on_messages(const rank_grid& grid, const std::vector<halo_round>& rounds);

}  // namespace longshore::detail

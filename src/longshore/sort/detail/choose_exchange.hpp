// What exchange auto becomes.
#pragma once

#include <longshore/sort/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>

namespace longshore::detail {

/// Collective; the same arguments and the same answer on all ranks. For blocks of some
/// `block_bytes` from each rank to each other.
///
/// On one node: direct, which moves every item once and sends nothing. On several: direct,
/// sendrecv, channel, alltoallv, two-hop and (unless `deterministic`) put move blocks of the size
/// by turns, at most 16 MiB per rank, and the one with the least best time of three is taken. It is
/// kept on the team for blocks of that size, to the next power of two; nothing is kept for other
/// runs. With LONGSHORE_PROFILE=off nothing is measured and direct is taken. Cost: some 24
/// exchanges, and the memory of one at a time.
[[nodiscard]] exchange_strategy choose_exchange(team& team, std::size_t block_bytes,
                                                bool deterministic);

}  // namespace longshore::detail

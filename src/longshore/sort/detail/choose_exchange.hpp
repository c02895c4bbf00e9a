// choose_exchange: chooses the strategy for exchange auto.
#pragma once

#include <longshore/sort/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>

namespace longshore::detail {

/// Collective; all ranks give the same arguments and get the same result. `block_bytes` is the
/// approximate size of a block from one rank to another.
///
/// On one node: direct, which moves every item once and sends nothing. On several nodes,
/// choose_exchange measures direct, sendrecv, channel, alltoallv, two-hop and (unless
/// `deterministic`) put with blocks of this size, at most 16 MiB per rank. It chooses the strategy
/// with the smallest minimum of three times. The team keeps the choice until the run ends, for all
/// block sizes with the same next power of two. With LONGSHORE_PROFILE=off, choose_exchange
/// measures nothing and chooses direct. Cost: some 24 exchanges, and the memory of one exchange at
/// a time.
[[nodiscard]] exchange_strategy choose_exchange(team& team, std::size_t block_bytes,
                                                bool deterministic);

}  // namespace longshore::detail

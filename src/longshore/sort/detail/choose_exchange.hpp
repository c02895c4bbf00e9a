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
/// `deterministic`) put by turns (fastest_by_turns) with blocks of this size, at most 16 MiB per
/// rank. The team keeps the choice until the run ends, for all block sizes with the same next power
/// of two. With LONGSHORE_PROFILE=off, choose_exchange measures nothing and chooses direct. Cost:
/// four exchanges of each candidate, further ones of the fastest for 0.4 s at most, and the memory
/// of all candidates.
[[nodiscard]] exchange_strategy choose_exchange(team& team, std::size_t block_bytes,
                                                bool deterministic);

}  // namespace longshore::detail

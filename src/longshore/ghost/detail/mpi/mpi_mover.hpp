// Makes the movers that call MPI. This header has no MPI types, so that files outside this folder
// can include the header.
#pragma once

#include <longshore/ghost/detail/mover.hpp>
#include <longshore/ghost/strategy.hpp>

#include <memory>

namespace longshore::mpi {

/// Collective. The mover of a round by the calls of an MPI strategy. A message is packed into a
/// buffer, sent, and stored from a buffer; messages of a rank to itself are copied. REQUIRES: a team
/// of the mpi transport, and messages of a rank that fit MPI's int counts together. Memory per rank:
/// all messages, in both directions.
[[nodiscard]] std::unique_ptr<detail::mover> make_ghost_mover(ghost_strategy strategy,
                                                              const detail::mover_context& context,
                                                              const detail::ghost_round& round);

}  // namespace longshore::mpi

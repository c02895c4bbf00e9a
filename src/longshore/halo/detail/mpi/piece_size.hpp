// Whether the posted messages of a plan travel in pieces.
#pragma once

#include <longshore/halo/detail/mpi/round_setup.hpp>

#include <cstddef>
#include <span>

namespace longshore::mpi {

/// The size of a piece for messages that travel whole: longer than any message.
inline constexpr std::size_t whole_messages = std::size_t{1} << 31;

/// Collective. The size of the pieces in which the messages of a plan travel, or whole_messages.
/// MPI sends a short message at once, but asks the receiver before it sends a long one, which costs
/// a round trip and saves copies. What costs less depends on the network, so the first plan of a
/// team that sends messages of this length to other hosts measures both ways. Plans without long
/// messages to other hosts measure nothing. REQUIRES: sender and receiver agree on the sizes.
[[nodiscard]] std::size_t choose_piece_bytes(std::span<const round_setup> rounds);

}  // namespace longshore::mpi

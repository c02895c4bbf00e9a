// The copy of a message into or out of its buffer, in the kernels of pattern control.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstring>

namespace longshore::bench {

/// Where time is computed, the bytes of a message within a node cost time. A message between nodes
/// counts as made where it lies, so that the kernels show the network of the machine.
inline void copy_message(team& ranks, int peer, void* to, const void* from, std::size_t bytes) {
  if (ranks.costs() != nullptr && ranks.nodes().is_local(peer)) [[unlikely]]
    ranks.charge_copy(ranks.rank(), bytes);
  std::memcpy(to, from, bytes);
}

}  // namespace longshore::bench

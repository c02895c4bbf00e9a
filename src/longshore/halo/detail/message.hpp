// What an algorithm says and a mode carries: which bytes go to whom in which direction.
#pragma once

#include <longshore/halo/detail/strided_block.hpp>
#include <longshore/halo/direction.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// One message, at one of its ends: the boxes of cells it is packed from, or unpacked to, one after
/// the other without padding.
struct halo_message {
  /// the other end, may be this rank itself; -1: nobody is there, and there is no message
  int peer = -1;
  std::vector<strided_block> parts;

  [[nodiscard]] bool exists() const noexcept { return peer >= 0; }
  [[nodiscard]] std::size_t size_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto& part : parts) bytes += part.size_bytes();
    return bytes;
  }
  /// Where the message lies when it needs no packing, else null.
  [[nodiscard]] std::byte* dense() const noexcept {
    return parts.size() == 1 && parts[0].is_dense() ? parts[0].first : nullptr;
  }
};

/// The two messages that travel in one direction through this rank: one that it sends, one that it
/// receives from the other side.
struct halo_leg {
  halo_direction direction;
  halo_message outgoing, incoming;
};

/// Legs that do not depend on each other. The same directions in the same order on every rank.
using halo_round = std::vector<halo_leg>;

}  // namespace longshore::detail

// How much an operation moved, as one rank counts it. The three kinds of bytes are counted apart.
#pragma once

#include <cstdint>

namespace longshore {

struct traffic {
  /// messages of this rank to others, also within its node; not direct loads and stores, and not
  /// copies for the rank itself
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;  ///< that the user asked this rank to move
  /// bytes of the messages: payload with headers and padding, and requests for replies
  std::uint64_t wire_bytes = 0;
  std::uint64_t offnode_bytes = 0;  ///< the part of wire_bytes that goes to another node

  traffic& operator+=(const traffic& other) noexcept {
    messages += other.messages;
    payload_bytes += other.payload_bytes;
    wire_bytes += other.wire_bytes;
    offnode_bytes += other.offnode_bytes;
    return *this;
  }
  /// The traffic since `earlier`, an earlier state of the same counters.
  [[nodiscard]] traffic operator-(const traffic& earlier) const noexcept {
    return {messages - earlier.messages, payload_bytes - earlier.payload_bytes,
            wire_bytes - earlier.wire_bytes, offnode_bytes - earlier.offnode_bytes};
  }
};

}  // namespace longshore

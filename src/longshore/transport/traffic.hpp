// What an operation moved, as one rank counts it. The three kinds of bytes are never mixed.
#pragma once

#include <cstdint>

namespace longshore {

struct traffic {
  std::uint64_t messages =
      /// sent by this rank to others, also within its node; what is copied by direct loads and
      /// stores, or for the rank itself, is no message
      0;
  std::uint64_t payload_bytes = 0;  ///< what the user asked this rank to move
  /// what the messages carried: payload with headers and padding, and requests that answers need
  std::uint64_t wire_bytes = 0;
  std::uint64_t offnode_bytes = 0;  ///< of the wire bytes, those to another node

  traffic& operator+=(const traffic& other) noexcept {
    messages += other.messages;
    payload_bytes += other.payload_bytes;
    wire_bytes += other.wire_bytes;
    offnode_bytes += other.offnode_bytes;
    return *this;
  }
  /// What came since `earlier`, of counts that only grow.
  [[nodiscard]] traffic operator-(const traffic& earlier) const noexcept {
    return {messages - earlier.messages, payload_bytes - earlier.payload_bytes,
            wire_bytes - earlier.wire_bytes, offnode_bytes - earlier.offnode_bytes};
  }
};

}  // namespace longshore

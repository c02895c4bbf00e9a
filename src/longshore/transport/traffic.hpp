// The messages and bytes that an operation moved, as counted by one rank.
#pragma once

#include <cstdint>

namespace longshore {

struct traffic {
  /// Messages of this rank to other ranks, also within its node. Direct loads and stores, and
  /// copies from the rank to itself, are not counted.
  std::uint64_t messages = 0;
  std::uint64_t payload_bytes = 0;  ///< bytes that the user asked this rank to move
  /// Bytes of the messages: payload, headers, padding, and the requests that replies need.
  std::uint64_t wire_bytes = 0;
  std::uint64_t offnode_bytes = 0;  ///< the part of wire_bytes that goes to other nodes

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

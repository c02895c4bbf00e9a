// The handshake message of mode direct. The sender describes the cells that a neighbour may read,
// and the memory of its signals. Descriptors follow each other without padding: the signals, then
// each message with its boxes.
#pragma once

#include <longshore/halo/detail/copy/strided_box.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace longshore::detail {

// A box of cells in the memory of another rank.
struct remote_box_descriptor {
  shared_memory_handle memory;
  std::uint64_t offset;
  std::uint64_t element_bytes;
  std::array<std::size_t, 3> extents;
  std::array<std::ptrdiff_t, 3> strides_bytes;
};
// The message of a round and a message pair. The descriptors of its `boxes` boxes follow.
struct remote_message_descriptor {
  std::uint32_t round, pair, boxes;
};
// The signals of the receiver, in the memory of the sender: one direct_signals per round.
struct remote_signals_descriptor {
  shared_memory_handle memory;
  std::uint64_t offset;
};

// The handshake message of a neighbour, with addresses in this process.
struct mapped_handshake {
  bool all_mapped = false;       // whether all memory of the message could be mapped
  std::byte* signals = nullptr;  // one direct_signals per round
  struct message {
    std::uint32_t round, pair;
    std::vector<strided_box> parts;
  };
  std::vector<message> messages;
  std::vector<std::shared_ptr<const void>> memory_owners;
};

}  // namespace longshore::detail

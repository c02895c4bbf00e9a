// The handshake message of mode direct. The sender describes the cells that a neighbour may read,
// and the memory of its signals. Descriptors follow each other without padding: the signals, then
// each message with its boxes.
#pragma once

#include <longshore/halo/detail/copy/strided_box.hpp>
#include <longshore/halo/shareable_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
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

class handshake_writer {
 public:
  template <class T>
  void add(const T& value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class handshake_reader {
 public:
  explicit handshake_reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
  template <class T>
  [[nodiscard]] T take() {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
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

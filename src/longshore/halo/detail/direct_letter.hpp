// What neighbours on a node write to each other when they make a plan in mode direct: which cells
// may be read, where they lie, and where the reader's signals are.
#pragma once

#include <longshore/halo/detail/strided_block.hpp>
#include <longshore/halo/readable_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::detail {

// How cells lie at their owner, as told to who may read them.
struct told_box {
  memory_ticket memory;
  std::uint64_t offset;
  std::uint64_t element_bytes;
  std::array<std::size_t, 3> extents;
  std::array<std::ptrdiff_t, 3> strides_bytes;
};
struct told_message {
  std::uint32_t round, leg, boxes;
};
struct told_signals {
  memory_ticket memory;
  std::uint64_t offset;
};

class letter_writer {
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

class letter_reader {
 public:
  explicit letter_reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
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

// What a neighbour offers: messages of which this rank can reach all cells, and its signals.
struct offer {
  bool reachable = false;
  std::byte* signals = nullptr;
  struct message {
    std::uint32_t round, leg;
    std::vector<strided_block> parts;
  };
  std::vector<message> messages;
  std::vector<std::shared_ptr<const void>> keep;
};

}  // namespace longshore::detail

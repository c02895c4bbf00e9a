// A message made ready for packing or unpacking: one strided copy per part.
#pragma once

#include <longshore/halo/message.hpp>

#include <cstddef>
#include <vector>

namespace longshore {

/// The copies between the parts of a message and memory in which they lie one after the other.
class packed_message {
 public:
  packed_message() = default;
  explicit packed_message(const halo_message& message) {
    for (const auto& part : message.parts) {
      pieces_.push_back(
          {part.first, bytes_, strided_copy(part.dense_at(nullptr), part), strided_copy(part, part.dense_at(nullptr))});
      bytes_ += part.size_bytes();
    }
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  void pack(std::byte* message) const {
    for (const auto& p : pieces_) p.pack(message + p.offset, p.cells);
  }
  void unpack(const std::byte* message) const {
    for (const auto& p : pieces_) p.unpack(p.cells, message + p.offset);
  }

 private:
  struct piece {
    std::byte* cells;
    std::size_t offset;
    strided_copy pack, unpack;
  };
  std::vector<piece> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace longshore

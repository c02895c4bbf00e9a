// Buffers that a sorter keeps between sorts.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>

namespace longshore::detail {

/// `bytes` and 1/64 more, so that counts that vary a little between sorts do not cause an
/// allocation each time.
[[nodiscard]] constexpr std::size_t with_headroom(std::size_t bytes) noexcept {
  return bytes + bytes / 64;
}

/// Memory of one rank. Growing loses the contents.
class growable_buffer {
 public:
  std::byte* grow(std::size_t bytes) {
    if (memory_.size_bytes() < bytes) {
      memory_ = pages();
      memory_ = pages(with_headroom(bytes), true);
    }
    return memory_.data();
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

 private:
  pages memory_;
};

/// Symmetric memory: grow() is collective, and all ranks give the same number of bytes. Growing
/// loses the contents.
class growable_segment {
 public:
  std::byte* grow(team& team, std::size_t bytes) {
    if (!memory_ || memory_->size_bytes() < bytes) {
      memory_.reset();
      memory_ = team.allocate(with_headroom(bytes));
    }
    return memory_->local();
  }
  [[nodiscard]] segment& memory() const noexcept { return *memory_; }

 private:
  std::unique_ptr<segment> memory_;
};

}  // namespace longshore::detail

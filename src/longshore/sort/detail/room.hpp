// Memory that grows when it must and is kept.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>

namespace longshore::detail {

/// 1/64 more than asked for, so that counts that vary a little do not make it grow again and again.
[[nodiscard]] constexpr std::size_t with_reserve(std::size_t bytes) noexcept {
  return bytes + bytes / 64;
}

/// Of one rank. What was in it is lost when it grows.
class private_room {
 public:
  std::byte* grow(std::size_t bytes) {
    if (memory_.size_bytes() < bytes) {
      memory_ = pages();
      memory_ = pages(with_reserve(bytes), true);
    }
    return memory_.data();
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

 private:
  pages memory_;
};

/// Symmetric: collective, with the same number of bytes on all ranks.
class shared_room {
 public:
  std::byte* grow(team& team, std::size_t bytes) {
    if (!memory_ || memory_->size_bytes() < bytes) {
      memory_.reset();
      memory_ = team.allocate(with_reserve(bytes));
    }
    return memory_->local();
  }
  [[nodiscard]] segment& memory() const noexcept { return *memory_; }

 private:
  std::unique_ptr<segment> memory_;
};

}  // namespace longshore::detail

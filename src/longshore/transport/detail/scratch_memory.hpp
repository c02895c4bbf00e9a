// Memory on which strategies `auto` of patterns measure their candidates.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <algorithm>
#include <cstddef>

namespace longshore::detail {

/// Memory of zeros. Other ranks can map it if it is made shareable.
class scratch_memory {
 public:
  scratch_memory(const team& ranks, std::size_t bytes, bool is_shareable) {
    if (is_shareable)
      shareable_ = shareable_memory(ranks, bytes);
    else
      plain_ = pages(bytes);
    // The system maps all pages that were never written to the same page of zeros. Writing gives
    // the memory pages of its own, as the memory of a program has.
    std::fill_n(data(), bytes, std::byte{0});
  }
  [[nodiscard]] std::byte* data() const noexcept {
    return plain_.data() != nullptr ? plain_.data() : shareable_.data();
  }
  /// REQUIRES: the memory is shareable.
  [[nodiscard]] shared_memory_handle handle() const { return shareable_.handle(); }

 private:
  shareable_memory shareable_;
  pages plain_;
};

}  // namespace longshore::detail

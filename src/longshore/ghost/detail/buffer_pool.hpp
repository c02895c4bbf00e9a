// Shareable memory for the buffers of plans. Plans that come and go use the same memory, so that they
// make no file, and peers map the memory once.
#pragma once

#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace longshore::detail {

class buffer_pool {
 public:
  /// Local. At least `bytes` bytes of any content. Throws errc::out_of_memory.
  [[nodiscard]] shareable_memory take(const team& ranks, std::size_t bytes) {
    // Much larger memory would be lost to a plan that needs it.
    const auto fits = [bytes](const shareable_memory& spare) {
      return spare.handle().bytes >= bytes && spare.handle().bytes / 4 <= bytes;
    };
    const auto found = std::find_if(spare_.begin(), spare_.end(), fits);
    if (found == spare_.end()) return {ranks, bytes};
    shareable_memory taken = std::move(*found);
    spare_.erase(found);
    kept_bytes_ -= taken.handle().bytes;
    return taken;
  }
  void give_back(shareable_memory memory) {
    if (memory.handle().file < 0 || kept_bytes_ + memory.handle().bytes > max_kept_bytes) return;
    kept_bytes_ += memory.handle().bytes;
    spare_.push_back(std::move(memory));
  }

 private:
  static constexpr std::size_t max_kept_bytes = std::size_t{16} << 20;
  std::vector<shareable_memory> spare_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace longshore::detail

// recent_requests: the latest requests, so that request_reply sends no request that is outstanding.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/random.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace longshore::detail {

/// A direct-mapped table of requests and their numbers. A request in the table may be outstanding
/// or not. Memory: 16 bytes and a Request per entry.
template <trivially_copyable Request>
class recent_requests {
 public:
  static constexpr std::size_t not_found = ~std::size_t{0};

  /// `entries` is rounded up to a power of two. If 0, do not call remember() and find().
  explicit recent_requests(std::size_t entries)
      : entries_(entries == 0 ? 0 : std::bit_ceil(smaller(entries, std::size_t{1} << 31))) {}

  [[nodiscard]] bool is_used() const noexcept { return !entries_.empty(); }
  void clear() noexcept {
    for (auto& slot : entries_) slot.number = not_found;
  }
  void remember(const addressed<Request>& request, std::size_t number) {
    entries_[position_of(request)] = {request, number};
  }
  /// The number of the latest equal request, or not_found.
  [[nodiscard]] std::size_t find(const addressed<Request>& request) const {
    const entry& latest = entries_[position_of(request)];
    const bool same = latest.request.rank == request.rank &&
                      std::memcmp(&latest.request.item, &request.item, sizeof(Request)) == 0;
    return same ? latest.number : not_found;
  }

 private:
  struct entry {
    addressed<Request> request;
    std::size_t number = not_found;
  };

  [[nodiscard]] std::size_t position_of(const addressed<Request>& request) const {
    std::uint64_t bits = static_cast<std::uint64_t>(request.rank);
    const auto bytes = bytes_of(request.item);
    for (std::size_t offset = 0; offset < bytes.size(); offset += sizeof bits) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + offset, smaller(sizeof word, bytes.size() - offset));
      bits = mix_bits(bits ^ word);
    }
    return bits & (entries_.size() - 1);
  }

  std::vector<entry> entries_;
};

}  // namespace longshore::detail

// Where in a buffer that is being filled an element was met last: a small direct-mapped table per destination.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::gathering {

/// For combining: remembers the position of the last item for an element (of those that share its place in the table).
/// Nothing is ever cleared: what it says is a guess, and the buffer itself tells whether it is right.
/// Memory: 4 bytes x ranks x (buffer_items, rounded up to a power of two).
class recent_items {
 public:
  recent_items(int ranks, std::size_t buffer_items)
      : bits_(static_cast<int>(std::bit_width(buffer_items - 1))), positions_(static_cast<std::size_t>(ranks) << bits_) {}

  /// Where the position of the last item for `offset` to `rank` is kept; to be compared, and replaced.
  [[nodiscard]] std::uint32_t& guess(int rank, std::uint64_t offset) noexcept {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4): neighbours go to different places, and so do multiples of a power of two.
    const std::uint64_t hash = bits_ == 0 ? 0 : (offset * 0x9e3779b97f4a7c15ULL) >> (64 - bits_);
    return positions_[(static_cast<std::size_t>(rank) << bits_) + hash];
  }

 private:
  int bits_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace longshore::gathering

// Where in a buffer that is being filled an item for some place was put last: a small direct-mapped
// table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

/// For combining: remembers, for each destination, the position of the last item for a place (of
/// those that share its line in the table). Nothing is ever cleared: what it says is a guess, and
/// the buffer itself tells whether it is right. Memory: 4 bytes x destinations x (entries, rounded
/// up to a power of two).
class recent_items {
 public:
  recent_items(int destinations, std::size_t entries)
      : bits_(static_cast<int>(std::bit_width(entries - 1))),
        positions_(static_cast<std::size_t>(destinations) << bits_) {}

  /// Where the position of the last item for `place` at `destination` is kept; to be compared, and
  /// replaced.
  [[nodiscard]] std::uint32_t& guess(int destination, std::uint64_t place) noexcept {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4): neighbours go to different places, and so do
    // multiples of a power of two.
    const std::uint64_t hash = bits_ == 0 ? 0 : (place * 0x9e3779b97f4a7c15ULL) >> (64 - bits_);
    return positions_[(static_cast<std::size_t>(destination) << bits_) + hash];
  }

 private:
  int bits_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace longshore

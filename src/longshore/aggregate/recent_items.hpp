// Remembers where the latest item for each place lies in a buffer that is being filled, so that
// items for one place can be combined.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

/// A direct-mapped table with a position for each destination and place; places that share an entry
/// overwrite each other. Entries are never cleared, so a position is a guess, which must be checked
/// against the buffer. Memory: 4 bytes x destinations x (entries, rounded up to a power of two).
class recent_items {
 public:
  recent_items(int destinations, std::size_t entries)
      : bits_(static_cast<int>(std::bit_width(entries - 1))),
        positions_(static_cast<std::size_t>(destinations) << bits_) {}

  /// The entry for `place` at `destination`: the guessed position, to be compared and replaced.
  [[nodiscard]] std::uint32_t& guess(int destination, std::uint64_t place) noexcept {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4) separates neighbours and multiples of a power of two.
    const std::uint64_t hash = bits_ == 0 ? 0 : (place * 0x9e3779b97f4a7c15ULL) >> (64 - bits_);
    return positions_[(static_cast<std::size_t>(destination) << bits_) + hash];
  }

 private:
  int bits_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace longshore

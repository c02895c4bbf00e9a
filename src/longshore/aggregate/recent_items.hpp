// recent_items: where the latest item with each key lies in an open buffer. Used to combine items.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

/// A direct-mapped table with a position for each destination and key. Keys that share an entry
/// overwrite each other, and entries are never cleared: so a position is a guess, which must be
/// checked against the buffer. Memory: 4 bytes x destinations x entries, rounded up to a power of
/// two.
class recent_items {
 public:
  recent_items(int destinations, std::size_t entries)
      : bits_(static_cast<int>(std::bit_width(entries - 1))),
        positions_(static_cast<std::size_t>(destinations) << bits_) {}

  /// The guessed position of the latest item with `key` for `destination`. The caller checks and
  /// replaces the position.
  [[nodiscard]] std::uint32_t& guess(int destination, std::uint64_t key) noexcept {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4) separates neighbouring keys, and multiples of a
    // power of two.
    const std::uint64_t hash = bits_ == 0 ? 0 : (key * 0x9e3779b97f4a7c15ULL) >> (64 - bits_);
    return positions_[(static_cast<std::size_t>(destination) << bits_) + hash];
  }

 private:
  int bits_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace longshore

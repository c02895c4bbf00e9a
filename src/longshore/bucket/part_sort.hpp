// Sorting items that fit into the cache by the lowest bits of their images, from the lowest digit up. Stable.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace longshore::bucketing {

inline constexpr int most_digit_bits = 9;
/// Passes over items of whose images so many bits vary.
[[nodiscard]] constexpr int radix_passes(int bits) noexcept { return (bits + most_digit_bits - 1) / most_digit_bits; }

/// Memory: 4 KiB per digit of an image.
template <class Item, class ImageOf>
class part_sorter {
 public:
  using image = typename ImageOf::type;

  /// Sorts `count` items by the lowest `bits` of their images' distance from `lowest`; the higher bits are equal. Returns where they
  /// are: `from` or `to`.
  Item* sort(Item* from, Item* to, std::size_t count, const ImageOf& image_of, image lowest, int bits) {
    if (bits == 0 || count < 2) return from;
    if (count < few_items) {
      insert_one_by_one(from, count, image_of);
      return from;
    }
    const int passes = radix_passes(bits), digit_bits = (bits + passes - 1) / passes;
    const std::size_t mask = (std::size_t{1} << digit_bits) - 1;
    const auto distance = [&](const Item& item) { return static_cast<std::uint64_t>(static_cast<image>(image_of(item) - lowest)); };
    for (int pass = 0; pass < passes; ++pass) std::fill_n(counts_[pass].begin(), mask + 1, std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t rest = distance(from[i]);
      for (int pass = 0; pass < passes; ++pass, rest >>= digit_bits) ++counts_[pass][rest & mask];
    }
    const std::uint64_t some = distance(from[0]);
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = pass * digit_bits;
      auto& next = counts_[pass];
      if (next[(some >> shift) & mask] == count) continue;  // all have this digit in common
      std::size_t begin = 0;
      for (std::size_t digit = 0; digit <= mask; ++digit) begin += std::exchange(next[digit], begin);
      for (std::size_t i = 0; i < count; ++i) to[next[(distance(from[i]) >> shift) & mask]++] = from[i];
      std::swap(from, to);
    }
    return from;
  }

 private:
  static constexpr std::size_t few_items = 64;

  static void insert_one_by_one(Item* items, std::size_t count, const ImageOf& image_of) {
    for (std::size_t i = 1; i < count; ++i) {
      const Item item = items[i];
      const image key = image_of(item);
      std::size_t at = i;
      for (; at > 0 && key < image_of(items[at - 1]); --at) items[at] = items[at - 1];
      items[at] = item;
    }
  }

  static constexpr int most_passes = radix_passes(8 * sizeof(image));
  std::array<std::array<std::size_t, std::size_t{1} << most_digit_bits>, most_passes> counts_;  // by pass, then digit
};

}  // namespace longshore::bucketing

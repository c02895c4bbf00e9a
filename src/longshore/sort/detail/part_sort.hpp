// Sorting items that fit into the cache by the lowest bits of their images, from the lowest digit
// up. Stable.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace longshore::detail {

inline constexpr int most_digit_bits = 9;
/// Passes over items of whose images so many bits vary.
[[nodiscard]] constexpr int radix_passes(int bits) noexcept {
  return (bits + most_digit_bits - 1) / most_digit_bits;
}

/// Memory: 2 KiB per digit of an image. REQUIRES: less than 2^32 items at a time.
template <class Item, class ImageOf>
class part_sorter {
 public:
  using image = typename ImageOf::type;

  /// Sorts `count` items by the lowest `bits` of their images' distance from `lowest`; the higher
  /// bits are equal. Returns where they are: `from` or `to`.
  Item* sort(Item* from, Item* to, std::size_t count, const ImageOf& image_of, image lowest,
             int bits) {
    if (bits == 0 || count < 2) return from;
    if (count < few_items) {
      insert_one_by_one(from, count, image_of);
      return from;
    }
    const int passes = radix_passes(bits), digit_bits = (bits + passes - 1) / passes;
    if (passes == 1)
      return sort_by_digits<1>(from, to, count, image_of, lowest, digit_bits, passes);
    if (passes == 2)
      return sort_by_digits<2>(from, to, count, image_of, lowest, digit_bits, passes);
    return sort_by_digits<0>(from, to, count, image_of, lowest, digit_bits, passes);
  }

 private:
  static constexpr std::size_t few_items = 64;
  static constexpr int most_passes = radix_passes(8 * sizeof(image));

  // `Passes`: how many, where the compiler is to know it; else 0.
  template <int Passes>
  Item* sort_by_digits(Item* from, Item* to, std::size_t count, const ImageOf& image_of,
                       image lowest, int digit_bits, int some_passes) {
    const int passes = Passes > 0 ? Passes : some_passes;
    const auto mask = static_cast<std::uint32_t>((1u << digit_bits) - 1);
    const auto distance = [image_of, lowest](const Item& item) {
      return static_cast<image>(image_of(item) - lowest);
    };
    for (int pass = 0; pass < passes; ++pass) std::fill_n(counts_[pass].begin(), mask + 1, 0u);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t rest = distance(from[i]);
      for (int pass = 0; pass < passes; ++pass, rest >>= digit_bits) ++counts_[pass][rest & mask];
    }
    const std::uint64_t some = distance(from[0]);
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = pass * digit_bits;
      std::uint32_t* const next = counts_[pass].data();
      if (next[(some >> shift) & mask] == count) continue;  // all have this digit in common
      std::uint32_t begin = 0;
      for (std::uint32_t digit = 0; digit <= mask; ++digit)
        begin += std::exchange(next[digit], begin);
      for (std::size_t i = 0; i < count; ++i) {
        const Item item = from[i];
        to[next[(distance(item) >> shift) & mask]++] = item;
      }
      std::swap(from, to);
    }
    return from;
  }

  static void insert_one_by_one(Item* items, std::size_t count, const ImageOf& image_of) {
    for (std::size_t i = 1; i < count; ++i) {
      const Item item = items[i];
      const image key = image_of(item);
      std::size_t at = i;
      for (; at > 0 && key < image_of(items[at - 1]); --at) items[at] = items[at - 1];
      items[at] = item;
    }
  }

  // by pass, then digit
  std::array<std::array<std::uint32_t, std::size_t{1} << most_digit_bits>, most_passes> counts_;
};

}  // namespace longshore::detail

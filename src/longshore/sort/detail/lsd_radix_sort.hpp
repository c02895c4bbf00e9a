// A stable radix sort from the lowest digit up (LSD), for items that fit into the cache. Used by
// radix_sorter for each of its parts.
#pragma once

#include <longshore/sort/detail/read_ahead.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace longshore::detail {

inline constexpr int max_digit_bits = 9;
/// The number of passes that sort by `bits` bits.
[[nodiscard]] constexpr int radix_passes(int bits) noexcept {
  return (bits + max_digit_bits - 1) / max_digit_bits;
}

/// Memory: 2 KiB per digit of a radix key. REQUIRES: less than 2^32 items at a time.
template <class Item, class RadixKeyOf>
class lsd_radix_sorter {
 public:
  using radix_key = typename RadixKeyOf::type;

  /// Sorts `count` items by the lowest `bits` bits of (radix key - lowest). Returns where the
  /// result begins, which is `from` or `to`. Meanwhile prefetches the items at `next`, which are
  /// sorted next, unless `next` is null. REQUIRES: all higher bits are equal.
  Item* sort(Item* from, Item* to, std::size_t count, const RadixKeyOf& radix_key_of,
             radix_key lowest, int bits, const Item* next = nullptr) {
    if (bits == 0 || count < 2) return from;
    if (count < insertion_sort_below) {
      insertion_sort(from, count, radix_key_of);
      return from;
    }
    const int passes = radix_passes(bits), digit_bits = (bits + passes - 1) / passes;
    if (passes == 1)
      return sort_by_digits<1>(from, to, count, radix_key_of, lowest, digit_bits, passes, next);
    if (passes == 2)
      return sort_by_digits<2>(from, to, count, radix_key_of, lowest, digit_bits, passes, next);
    if (passes == 3)
      return sort_by_digits<3>(from, to, count, radix_key_of, lowest, digit_bits, passes, next);
    return sort_by_digits<0>(from, to, count, radix_key_of, lowest, digit_bits, passes, next);
  }

 private:
  static constexpr std::size_t insertion_sort_below = 64;
  static constexpr int max_passes = radix_passes(8 * sizeof(radix_key));

  // Makes `Passes` passes, a number known at compile time. If `Passes` is 0, makes `run_passes`.
  template <int Passes>
  Item* sort_by_digits(Item* from, Item* to, std::size_t count, const RadixKeyOf& radix_key_of,
                       radix_key lowest, int digit_bits, int run_passes, const Item* next_items) {
    const int passes = Passes > 0 ? Passes : run_passes;
    const auto mask = static_cast<std::uint32_t>((1u << digit_bits) - 1);
    const auto distance = [radix_key_of, lowest](const Item& item) {
      return static_cast<radix_key>(radix_key_of(item) - lowest);
    };
    for (int pass = 0; pass < passes; ++pass)
      std::memset(counts_[pass].data(), 0, (mask + 1) * sizeof(counts_[pass][0]));
    for_each_ahead(from, count, [&](const Item& item, std::size_t) {
      std::uint64_t rest = distance(item);
      for (int pass = 0; pass < passes; ++pass, rest >>= digit_bits) ++counts_[pass][rest & mask];
    });
    const std::uint64_t any_distance = distance(from[0]);
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = pass * digit_bits;
      std::uint32_t* const next = counts_[pass].data();
      if (next[(any_distance >> shift) & mask] == count) continue;  // all items share this digit
      std::uint32_t begin = 0;
      for (std::uint32_t digit = 0; digit <= mask; ++digit)
        begin += std::exchange(next[digit], begin);
      const auto move = [=](const Item& item, std::size_t) {
        to[next[(distance(item) >> shift) & mask]++] = item;
      };
      if (const Item* const ahead = std::exchange(next_items, nullptr); ahead != nullptr)
        for_each_ahead(from, count, ahead, move);
      else
        for_each_ahead(from, count, move);
      std::swap(from, to);
    }
    return from;
  }

  static void insertion_sort(Item* items, std::size_t count, const RadixKeyOf& radix_key_of) {
    for (std::size_t i = 1; i < count; ++i) {
      const Item item = items[i];
      const radix_key key = radix_key_of(item);
      std::size_t position = i;
      for (; position > 0 && key < radix_key_of(items[position - 1]); --position)
        items[position] = items[position - 1];
      items[position] = item;
    }
  }

  // indexed by pass, then by digit
  std::array<std::array<std::uint32_t, std::size_t{1} << max_digit_bits>, max_passes> counts_;
};

}  // namespace longshore::detail

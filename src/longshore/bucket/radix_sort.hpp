// Sorting the keys of one rank: one pass over memory that splits by the highest bits into parts that fit into the cache, then
// passes from the lowest bits up within each part.
#pragma once

#include <longshore/bucket/key_buckets.hpp>
#include <longshore/bucket/line_scatter.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace longshore::bucketing {

/// Tables kept between uses: some 400 KiB.
/// Cost for n keys of which b bits vary: each key is read twice and written once by the split, and moved once per 9 further
/// bits in the cache.
template <bucket_key Key>
class radix_sorter {
 public:
  radix_sorter() : scatter_(most_parts), starts_(most_parts + 1) {}

  /// Sorts `keys`, all of which lie in [lowest, lowest + span]. Returns the result, which is in `keys` or in `scratch`; the
  /// other is overwritten. REQUIRES: both have keys.size() elements, aligned to a cache line, not overlapping.
  [[nodiscard]] std::span<Key> sort(std::span<Key> keys, Key* scratch, Key lowest, std::uint64_t span) {
    const int bits = static_cast<int>(std::bit_width(span));
    const int split_bits = choose_split(keys.size(), bits);
    if (split_bits == 0) {
      Key* const sorted = sort_part(keys.data(), scratch, keys.size(), lowest, bits);
      return {sorted, keys.size()};
    }
    const int rest = bits - split_bits;
    split(keys, scratch, lowest, rest, std::size_t{1} << split_bits);
    // All parts shall end on the same side, where an average one does.
    Key* const result = passes_for(rest) % 2 == 0 ? scratch : keys.data();
    for (std::size_t part = 0; part < std::size_t{1} << split_bits; ++part) {
      const std::size_t begin = starts_[part], count = starts_[part + 1] - begin;
      Key* const sorted = sort_part(scratch + begin, keys.data() + begin, count, lowest, rest);
      if (sorted != result + begin && count > 0) std::memcpy(result + begin, sorted, count * sizeof(Key));
    }
    return {result, keys.size()};
  }

 private:
  static constexpr std::size_t part_bytes = std::size_t{128} << 10;  // two of these fit into every second-level cache of today
  static constexpr int most_split_bits = 11;
  static constexpr std::size_t most_parts = std::size_t{1} << most_split_bits;
  static constexpr int most_digit_bits = 9;
  static constexpr int most_passes = (64 + most_digit_bits - 1) / most_digit_bits;
  static constexpr std::size_t fewest_in_part = 2048;  // when the split is chosen freely
  static constexpr std::size_t few_keys = 96;          // fewer than this are sorted by comparing

  // Bits for the split: so many that parts fit, then as many more as save a pass and leave parts worth a pass.
  static int choose_split(std::size_t keys, int bits) noexcept {
    if (keys == 0) return 0;
    const int needed = static_cast<int>(std::bit_width((keys * sizeof(Key) - 1) / part_bytes));
    if (needed == 0) return 0;
    int best = std::min({needed, most_split_bits, bits});
    for (int more = best + 1; more <= std::min(most_split_bits, bits) && keys >> more >= fewest_in_part; ++more)
      if (passes_for(bits - more) < passes_for(bits - best)) best = more;
    return best;
  }
  static constexpr int passes_for(int bits) noexcept { return (bits + most_digit_bits - 1) / most_digit_bits; }
  static std::uint64_t distance(Key key, Key lowest) noexcept {
    using unsigned_key = std::make_unsigned_t<Key>;
    return static_cast<unsigned_key>(static_cast<unsigned_key>(key) - static_cast<unsigned_key>(lowest));
  }

  // to = the keys ordered by their distance >> shift; starts_ = where each of these parts begins.
  void split(std::span<const Key> keys, Key* to, Key lowest, int shift, std::size_t parts) {
    std::fill_n(starts_.begin(), parts + 1, std::size_t{0});
    for (const Key key : keys) ++starts_[(distance(key, lowest) >> shift) + 1];
    for (std::size_t part = 0; part < parts; ++part) starts_[part + 1] += starts_[part];
    scatter_.run(keys, {starts_.data(), parts}, to,
                 [=](Key key) { return static_cast<std::size_t>(distance(key, lowest) >> shift); });
  }

  // Sorts `count` keys by the lowest `bits` of their distance. Returns where they are: `from` or `to`.
  Key* sort_part(Key* from, Key* to, std::size_t count, Key lowest, int bits) {
    if (bits == 0 || count < 2) return from;
    if (count < few_keys) {
      std::sort(from, from + count);  // the higher bits are equal
      return from;
    }
    const int passes = passes_for(bits), digit_bits = (bits + passes - 1) / passes;
    const std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
    for (int pass = 0; pass < passes; ++pass) std::fill_n(counts_[pass].begin(), mask + 1, std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t rest = distance(from[i], lowest);
      for (int pass = 0; pass < passes; ++pass, rest >>= digit_bits) ++counts_[pass][rest & mask];
    }
    const std::uint64_t some = distance(from[0], lowest);
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = pass * digit_bits;
      auto& next = counts_[pass];
      if (next[(some >> shift) & mask] == count) continue;  // all keys have this digit in common
      std::size_t begin = 0;
      for (std::size_t digit = 0; digit <= mask; ++digit) begin += std::exchange(next[digit], begin);
      for (std::size_t i = 0; i < count; ++i) to[next[(distance(from[i], lowest) >> shift) & mask]++] = from[i];
      std::swap(from, to);
    }
    return from;
  }

  line_scatter<Key> scatter_;
  std::vector<std::size_t> starts_;
  std::array<std::array<std::size_t, std::size_t{1} << most_digit_bits>, most_passes> counts_;  // by pass, then digit
};

}  // namespace longshore::bucketing

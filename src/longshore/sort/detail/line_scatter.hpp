// Scattering items to many places, a whole cache line at a time.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/machine/pages.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace longshore::detail {

/// Items go to a line of their bucket that stays in the cache; full lines are stored past it.
/// Without this every item would cost a line read from memory and, with many buckets, a miss of the
/// address translation (J. Wassenberg, P. Sanders, "Engineering a multi-core radix sort", Euro-Par
/// 2011, section 3). Items that do not fill a line evenly are collected in blocks and copied.
/// Memory per bucket: a line (a block of about four) and 16 bytes.
template <class Item>
class line_scatter {
 public:
  explicit line_scatter(std::size_t buckets = 0) { grow(buckets); }

  void grow(std::size_t buckets) {
    if (buckets <= first_.size()) return;
    lines_ = pages();
    lines_ = pages(buckets * block_bytes);
    first_.resize(buckets);
    next_.resize(buckets);
  }

  /// to[b][0 ...] = the items of bucket b, in their order. bucket_of(item) < to.size() <= buckets
  /// given before. REQUIRES: items are aligned to their size where that is a power of two, and do
  /// not overlap what is written.
  template <class BucketOf>
  void run(std::span<const Item> items, std::span<Item* const> to,
           const BucketOf& bucket_of) noexcept {
    std::copy(to.begin(), to.end(), first_.begin());
    std::copy(to.begin(), to.end(), next_.begin());
    Item* const lines = reinterpret_cast<Item*>(lines_.data());
    Item** const next = next_.data();
    for (const Item& item : items) {
      const std::size_t bucket = bucket_of(item);
      Item* const at = next[bucket]++;
      const std::size_t slot = slot_of(at, bucket);
      lines[bucket * block_items + slot] = item;
      if (slot == block_items - 1) store_block(bucket, at + 1);
    }
    for (std::size_t bucket = 0; bucket < to.size(); ++bucket) {
      const std::size_t filled = slot_of(next[bucket], bucket);
      copy_part(bucket, std::max(first_[bucket], next[bucket] - filled), next[bucket]);
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
  }

  /// Where the items of each bucket of the last run end.
  void take_ends(std::span<Item*> ends) const noexcept {
    std::copy_n(next_.begin(), ends.size(), ends.begin());
  }

 private:
  static constexpr bool fills_lines = cache_line_bytes % sizeof(Item) == 0;
  static constexpr std::size_t block_items =
      fills_lines ? cache_line_bytes / sizeof(Item)
                  : std::max<std::size_t>(1, 4 * cache_line_bytes / sizeof(Item));
  static constexpr std::size_t block_bytes =
      fills_lines ? cache_line_bytes : round_up(block_items * sizeof(Item), cache_line_bytes);

  // Items that fill lines lie in theirs as in memory; others are counted from where the bucket
  // begins.
  [[nodiscard]] std::size_t slot_of(const Item* at, std::size_t bucket) const noexcept {
    if constexpr (fills_lines)
      return reinterpret_cast<std::uintptr_t>(at) / sizeof(Item) % block_items;
    return static_cast<std::size_t>(at - first_[bucket]) % block_items;
  }

  // The full block of a bucket that ends at `end`; where a bucket begins within a line, what is
  // before it is not its own.
  void store_block(std::size_t bucket, Item* end) noexcept {
    Item* const begin = end - block_items;
#if defined(__x86_64__)
    if (fills_lines && begin >= first_[bucket]) {
      const auto* from = reinterpret_cast<const __m128i*>(lines_.data() + bucket * block_bytes);
      auto* line = reinterpret_cast<__m128i*>(begin);
      for (int k = 0; k < 4; ++k) _mm_stream_si128(line + k, _mm_load_si128(from + k));
      return;
    }
#endif
    copy_part(bucket, std::max(first_[bucket], begin), end);
  }
  void copy_part(std::size_t bucket, Item* begin, Item* end) noexcept {
    const Item* const block = reinterpret_cast<const Item*>(lines_.data()) + bucket * block_items;
    if (begin < end)
      std::memcpy(static_cast<void*>(begin), block + slot_of(begin, bucket),
                  static_cast<std::size_t>(end - begin) * sizeof(Item));
  }

  pages lines_;
  std::vector<Item*> first_, next_;
};

}  // namespace longshore::detail

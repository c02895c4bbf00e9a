// write_combining_scatter: scatters items to many buckets. Items of a bucket are collected in a
// cache line, and a full line is stored to memory at once, past the caches.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/machine/pages.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace longshore::detail {

/// A plain store of every item would read a line from memory per item and, with many buckets, miss
/// the TLB (J. Wassenberg, P. Sanders, "Engineering a multi-core radix sort", Euro-Par 2011,
/// section 3). Items whose size does not divide a line are collected in blocks of about four lines
/// and copied with ordinary stores. Memory per bucket: one line or block, and 16 bytes.
template <class Item>
class write_combining_scatter {
 public:
  void grow(std::size_t buckets) {
    if (buckets <= first_.size()) return;
    lines_ = pages();
    lines_ = pages(buckets * block_bytes);
    first_.resize(buckets);
    next_.resize(buckets);
  }

  /// Stores the items of bucket b to to[b][0], to[b][1], ..., in their order. REQUIRES:
  /// bucket_of(item) < to.size(); to.size() is at most the number of buckets of grow(); items whose
  /// size is a power of two are aligned to that size; `items` do not overlap the destinations.
  template <class BucketOf>
  void run(std::span<const Item> items, std::span<Item* const> to,
           const BucketOf& bucket_of) noexcept {
    std::copy(to.begin(), to.end(), first_.begin());
    std::copy(to.begin(), to.end(), next_.begin());
    Item* const lines = reinterpret_cast<Item*>(lines_.data());
    Item** const next = next_.data();
    for (const Item& item : items) {
      const std::size_t bucket = bucket_of(item);
      Item* const destination = next[bucket]++;
      const std::size_t index = index_in_block(destination, bucket);
      lines[bucket * block_items + index] = item;
      if (index == block_items - 1) store_block(bucket, destination + 1);
    }
    for (std::size_t bucket = 0; bucket < to.size(); ++bucket) {
      const std::size_t filled = index_in_block(next[bucket], bucket);
      copy_part(bucket, std::max(first_[bucket], next[bucket] - filled), next[bucket]);
    }
    fence_streaming_stores();
  }

  /// Sets ends[b] to the end of the items that the last run stored to bucket b.
  void copy_ends_to(std::span<Item*> ends) const noexcept {
    std::copy_n(next_.begin(), ends.size(), ends.begin());
  }

 private:
  static constexpr bool fills_lines = cache_line_bytes % sizeof(Item) == 0;
  static constexpr std::size_t block_items =
      fills_lines ? cache_line_bytes / sizeof(Item)
                  : std::max<std::size_t>(1, 4 * cache_line_bytes / sizeof(Item));
  static constexpr std::size_t block_bytes =
      fills_lines ? cache_line_bytes : round_up(block_items * sizeof(Item), cache_line_bytes);

  // The index in the collecting block of the item that goes to `destination`. Items that fill lines
  // have the same index in the collecting line as in the line of `destination`. Other items are
  // counted from the beginning of the bucket.
  [[nodiscard]] std::size_t index_in_block(const Item* destination,
                                           std::size_t bucket) const noexcept {
    if constexpr (fills_lines)
      return reinterpret_cast<std::uintptr_t>(destination) / sizeof(Item) % block_items;
    return static_cast<std::size_t>(destination - first_[bucket]) % block_items;
  }

  // Stores the full block of a bucket, which ends at `end`. If the bucket begins in the middle of
  // this line, the earlier bytes of the line belong to another bucket and stay as they are.
  void store_block(std::size_t bucket, Item* end) noexcept {
    Item* const begin = end - block_items;
    if (can_stream_lines && fills_lines && begin >= first_[bucket])
      stream_line(begin, lines_.data() + bucket * block_bytes);
    else
      copy_part(bucket, std::max(first_[bucket], begin), end);
  }
  void copy_part(std::size_t bucket, Item* begin, Item* end) noexcept {
    const Item* const block = reinterpret_cast<const Item*>(lines_.data()) + bucket * block_items;
    if (begin < end)
      std::memcpy(static_cast<void*>(begin), block + index_in_block(begin, bucket),
                  static_cast<std::size_t>(end - begin) * sizeof(Item));
  }

  pages lines_;
  std::vector<Item*> first_, next_;
};

}  // namespace longshore::detail

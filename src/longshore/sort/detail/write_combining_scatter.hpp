// write_combining_scatter: scatters items to many buckets. Items of a bucket are collected in a
// cache line, and a full line is stored to memory at once, past the caches.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/sort/detail/read_ahead.hpp>

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
    if (buckets <= next_.size()) return;
    lines_ = pages();
    lines_ = pages(buckets * block_bytes);
    base_.resize(buckets);
    first_.resize(buckets);
    next_.resize(buckets);
  }

  /// Stores the items of bucket b to to[b][0], to[b][1], ..., in their order. REQUIRES:
  /// bucket_of(item) < to.size(); to.size() is at most the number of buckets of grow(); items whose
  /// size is a power of two are aligned to that size; `items` do not overlap the destinations.
  template <class BucketOf>
  void run(std::span<const Item> items, std::span<Item* const> to,
           const BucketOf& bucket_of) noexcept {
    for (std::size_t bucket = 0; bucket < to.size(); ++bucket) {
      first_[bucket] = next_[bucket] = index_in_line(to[bucket]);
      base_[bucket] = to[bucket] - first_[bucket];
    }
    for (std::size_t begin = 0; begin < items.size(); begin += max_batch_items) {
      if (begin > 0) move_bases(to.size());
      run_batch(items.subspan(begin, smaller(max_batch_items, items.size() - begin)), bucket_of);
    }
    for (std::size_t bucket = 0; bucket < to.size(); ++bucket) {
      copy_part(bucket, larger(first_[bucket], begin_of_block(bucket)), next_[bucket]);
    }
    fence_streaming_stores();
  }

  /// Sets ends[b] to the end of the items that the last run stored to bucket b.
  void copy_ends_to(std::span<Item*> ends) const noexcept {
    for (std::size_t bucket = 0; bucket < ends.size(); ++bucket)
      ends[bucket] = base_[bucket] + next_[bucket];
  }

 private:
  static constexpr bool fills_lines = cache_line_bytes % sizeof(Item) == 0;
  static constexpr std::uint32_t block_items =
      fills_lines ? cache_line_bytes / sizeof(Item)
                  : larger<std::size_t>(1, 4 * cache_line_bytes / sizeof(Item));
  static constexpr std::size_t block_bytes =
      fills_lines ? cache_line_bytes : round_up(block_items * sizeof(Item), cache_line_bytes);
  // Positions have 32 bits, so twice as many of them fit into the cache as pointers would. After
  // each batch, the positions begin anew.
  static constexpr std::size_t max_batch_items = std::size_t{1} << 31;

  // Items that fill lines have the same index in the collecting line as in the line of their
  // destination. Other items are counted from the beginning of the bucket.
  [[nodiscard]] static std::uint32_t index_in_line(const Item* destination) noexcept {
    if constexpr (fills_lines)
      return reinterpret_cast<std::uintptr_t>(destination) / sizeof(Item) % block_items;
    return 0;
  }

  template <class BucketOf>
  void run_batch(std::span<const Item> items, const BucketOf bucket_of) noexcept {
    Item* const lines = reinterpret_cast<Item*>(lines_.data());
    std::uint32_t* const next = next_.data();
    for_each_ahead(items.data(), items.size(), [=, this](const Item& item, std::size_t) {
      const std::size_t bucket = bucket_of(item);
      const std::uint32_t position = next[bucket], index = position % block_items;
      if (index == 0) [[unlikely]]
        store_block(bucket, position);
      lines[bucket * block_items + index] = item;
      next[bucket] = position + 1;
    });
  }
  void move_bases(std::size_t buckets) noexcept {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      const std::uint32_t stored = begin_of_block(bucket);
      base_[bucket] += stored;
      next_[bucket] -= stored;
      if (stored > 0) first_[bucket] = 0;
    }
  }

  // The position at which the block begins that was not stored yet.
  [[nodiscard]] std::uint32_t begin_of_block(std::size_t bucket) const noexcept {
    const std::uint32_t end = next_[bucket];
    return end == 0 ? 0 : (end - 1) - (end - 1) % block_items;
  }
  // Stores the full block that ends at position `end`. Does nothing if the bucket begins there. If
  // the bucket begins in the middle of this line, the earlier bytes of the line belong to another
  // bucket and stay as they are.
  void store_block(std::size_t bucket, std::uint32_t end) noexcept {
    if (end == first_[bucket]) return;
    const std::uint32_t begin = end - block_items;
    if (can_stream_lines && fills_lines && begin >= first_[bucket])
      stream_line(base_[bucket] + begin, lines_.data() + bucket * block_bytes);
    else
      copy_part(bucket, larger(first_[bucket], begin), end);
  }
  void copy_part(std::size_t bucket, std::uint32_t begin, std::uint32_t end) noexcept {
    const Item* const block = reinterpret_cast<const Item*>(lines_.data()) + bucket * block_items;
    if (begin < end)
      std::memcpy(static_cast<void*>(base_[bucket] + begin), block + begin % block_items,
                  static_cast<std::size_t>(end - begin) * sizeof(Item));
  }

  pages lines_;
  // Indexed by bucket: its memory from the beginning of a line on, and the positions in this memory
  // of its first item and of its next item.
  std::vector<Item*> base_;
  std::vector<std::uint32_t> first_, next_;
};

}  // namespace longshore::detail

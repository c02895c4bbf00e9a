// Scattering keys to many places, a whole cache line at a time.
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

namespace longshore::bucketing {

/// Keys go to a line of their bucket that stays in the cache; full lines are stored past it. Without this every key would cost
/// a line read from memory and, with many buckets, a miss of the address translation (J. Wassenberg, P. Sanders, "Engineering a
/// multi-core radix sort", Euro-Par 2011, section 3).
/// Memory: 64 + 16 bytes per bucket.
template <class Key>
class line_scatter {
 public:
  explicit line_scatter(std::size_t buckets) : lines_(buckets * cache_line_bytes), first_(buckets), next_(buckets) {}

  /// to[starts[b] ...] = the keys of bucket b, in their order. bucket_of(key) < starts.size() <= buckets given before.
  /// REQUIRES: `to` is aligned to a cache line and does not overlap `keys`.
  template <class BucketOf>
  void run(std::span<const Key> keys, std::span<const std::size_t> starts, Key* to, BucketOf bucket_of) noexcept {
    std::copy(starts.begin(), starts.end(), first_.begin());
    std::copy(starts.begin(), starts.end(), next_.begin());
    Key* const lines = reinterpret_cast<Key*>(lines_.data());
    std::size_t* const next = next_.data();
    for (const Key key : keys) {
      const std::size_t bucket = bucket_of(key);
      const std::size_t at = next[bucket]++;
      lines[bucket * line_items + at % line_items] = key;
      if ((at + 1) % line_items == 0) store_line(bucket, at + 1 - line_items, to);
    }
    for (std::size_t bucket = 0; bucket < starts.size(); ++bucket) {
      const std::size_t begin = std::max(first_[bucket], next[bucket] / line_items * line_items);
      copy_part(bucket, begin, next[bucket], to);
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
  }

 private:
  static constexpr std::size_t line_items = cache_line_bytes / sizeof(Key);

  // The full line of a bucket whose first key belongs to to[begin]; where a bucket begins within a line, what is before it is
  // not its own.
  void store_line(std::size_t bucket, std::size_t begin, Key* to) noexcept {
    if (begin < first_[bucket]) {
      copy_part(bucket, first_[bucket], begin + line_items, to);
      return;
    }
#if defined(__x86_64__)
    const auto* from = reinterpret_cast<const __m128i*>(lines_.data() + bucket * cache_line_bytes);
    auto* line = reinterpret_cast<__m128i*>(to + begin);
    for (int k = 0; k < 4; ++k) _mm_stream_si128(line + k, _mm_load_si128(from + k));
#else
    std::memcpy(to + begin, lines_.data() + bucket * cache_line_bytes, cache_line_bytes);
#endif
  }
  void copy_part(std::size_t bucket, std::size_t begin, std::size_t end, Key* to) noexcept {
    const Key* const line = reinterpret_cast<const Key*>(lines_.data()) + bucket * line_items;
    for (std::size_t i = begin; i < end; ++i) to[i] = line[i % line_items];
  }

  pages lines_;
  std::vector<std::size_t> first_, next_;
};

}  // namespace longshore::bucketing

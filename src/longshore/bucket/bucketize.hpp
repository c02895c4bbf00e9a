// Putting the keys of one rank in the order of their buckets, out of place.
#pragma once

#include <longshore/bucket/key_buckets.hpp>
#include <longshore/bucket/line_scatter.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::bucketing {

/// For up to 4 buckets: a count of each in one register. (A counter in memory would make each key wait for the one before it.)
template <bucket_key Key, class BucketOf>
void scatter_to_few(std::span<const Key> keys, std::span<const std::size_t> starts, Key* to, BucketOf bucket_of) noexcept {
  constexpr std::size_t chunk_items = 0xffff;  // 16 bits per count
  std::array<Key*, 4> next{};
  for (std::size_t bucket = 0; bucket < starts.size(); ++bucket) next[bucket] = to + starts[bucket];
  for (std::size_t begin = 0; begin < keys.size(); begin += chunk_items) {
    const std::size_t end = std::min(keys.size(), begin + chunk_items);
    std::uint64_t counts = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t bucket = bucket_of(keys[i]);
      next[bucket][(counts >> (16 * bucket)) & 0xffff] = keys[i];
      counts += std::uint64_t{1} << (16 * bucket);
    }
    for (std::size_t bucket = 0; bucket < next.size(); ++bucket) next[bucket] += (counts >> (16 * bucket)) & 0xffff;
  }
}

/// to[starts[b] ...] = the keys of bucket b, in their order. All keys are contained in `buckets`; `starts` has one element per
/// bucket. REQUIRES: `to` is aligned to a cache line and does not overlap `keys`; `lines` is made for as many buckets.
template <bucket_key Key>
void bucketize(const key_buckets<Key>& buckets, std::span<const Key> keys, std::span<const std::size_t> starts, Key* to,
               line_scatter<Key>& lines) noexcept {
  buckets.with_bucket_of([&](auto bucket_of) {
    if (starts.size() <= 4)
      scatter_to_few(keys, starts, to, bucket_of);
    else
      lines.run(keys, starts, to, bucket_of);
  });
}

}  // namespace longshore::bucketing

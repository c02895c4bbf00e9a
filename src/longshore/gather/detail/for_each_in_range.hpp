// Loops over indices that check that an index lies in the table before the body gets the index.
#pragma once

#include <longshore/core/detail/min_max.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::detail {

/// A part of a table up to this size stays in a cache near its core, so prefetching gains nothing.
inline constexpr std::size_t cached_part_bytes = std::size_t{1} << 19;

/// One branch checks this many indices.
inline constexpr std::size_t index_group = 8;

/// Calls body(i, index) for the indices in order, and stops before the group with the first index
/// that is not in [0, size). Returns the number of calls. Cost: two simple operations per index and
/// a branch per group. `PrefetchDistance`: how many indices ahead to prefetch `indices`, for
/// callers that pause too often for the processor's prefetcher. REQUIRES: size < 2^63.
template <std::size_t PrefetchDistance = 0, class Body>
inline std::size_t for_each_in_range(std::span<const std::int64_t> indices, std::uint64_t size,
                                     Body body) {
  const std::size_t count = size == 0 ? 0 : indices.size();
  const std::uint64_t last = size - 1;
  std::size_t i = 0;
  for (; i + index_group <= count; i += index_group) {
    std::uint64_t group[index_group];
    std::uint64_t outside = 0;  // bit 63 is set by an index below 0 or above `last`
    if constexpr (PrefetchDistance > 0) __builtin_prefetch(indices.data() + i + PrefetchDistance);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < index_group; ++k) {
      group[k] = static_cast<std::uint64_t>(indices[i + k]);
      outside |= group[k] | (last - group[k]);
    }
    if (outside >> 63 != 0) [[unlikely]]
      return i;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < index_group; ++k) body(i + k, group[k]);
  }
  for (; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(indices[i]);
    if (index > last) break;
    body(i, index);
  }
  return i;
}

/// Like for_each_in_range, but for a body that misses the caches. Calls prefetch(index) `Distance`
/// indices before body(i, index). Without prefetches, a processor has too few instructions in
/// flight to overlap the cache misses of a body with more than one load.
template <std::size_t Distance, class Prefetch, class Body>
inline std::size_t for_each_in_range_prefetched(std::span<const std::int64_t> indices,
                                                std::uint64_t size, Prefetch prefetch, Body body) {
  const auto index_at = [&](std::size_t i) { return static_cast<std::uint64_t>(indices[i]); };
  const auto head = indices.first(smaller(Distance, indices.size()));
  std::size_t prefetched =
      for_each_in_range(head, size, [&](std::size_t, std::uint64_t index) { prefetch(index); });
  std::size_t used = 0;
  if (prefetched == Distance) {
    used =
        for_each_in_range(indices.subspan(Distance), size, [&](std::size_t i, std::uint64_t index) {
          prefetch(index);
          body(i, index_at(i));
        });
    prefetched += used;
  }
  for (; used < prefetched; ++used) body(used, index_at(used));
  return used;
}

/// Throws errc::usage for the first index outside [0, size); the message names the index, its
/// position, the rank and the operation. REQUIRES: an index is outside.
[[noreturn]] void throw_index_error(const char* operation, std::span<const std::int64_t> indices,
                                    std::uint64_t size, int rank);

/// Gives the indices of one call of a plan to a loop that reads them in order. Checks a whole block
/// of indices before it gives the first of them.
class index_checker {
 public:
  index_checker(const char* operation, std::span<const std::int64_t> indices, std::uint64_t size,
                int rank)
      : operation_(operation), indices_(indices), size_(size), rank_(rank) {}

  /// The index at position `i`. Read new positions in order. Earlier positions may be read again.
  /// Throws errc::usage if the block of `i` has an index outside the table.
  [[nodiscard]] std::uint64_t operator[](std::size_t i) {
    if (i >= checked_) [[unlikely]]
      check_block();
    return static_cast<std::uint64_t>(indices_[i]);
  }

 private:
  void check_block();

  const char* operation_;
  std::span<const std::int64_t> indices_;
  std::uint64_t size_;  // of the table
  int rank_;
  std::size_t checked_ = 0;  // positions before this one are checked
};

}  // namespace longshore::detail

// Loops over indices that check that each index lies in the table before it is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::detail {

/// A part of a table up to this size is in a cache near its core: prefetching would only cost.
inline constexpr std::size_t cached_part_bytes = std::size_t{1} << 19;

/// How many indices one branch checks together, before the first of them is used.
inline constexpr std::size_t index_group = 8;

/// Calls body(i, index) for the indices in order, as long as they are in [0, size); stops before
/// the group that has the first other index. Returns how many were used. Costs two simple
/// operations per index and a branch per group. `Ahead`: how many indices ahead to prefetch, for
/// callers that pause too often for the processor's prefetcher. REQUIRES: size < 2^63.
template <std::size_t Ahead = 0, class Body>
inline std::size_t for_each_in_range(std::span<const std::int64_t> indices, std::uint64_t size,
                                     Body body) {
  const std::size_t count = size == 0 ? 0 : indices.size();
  const std::uint64_t last = size - 1;
  std::size_t i = 0;
  for (; i + index_group <= count; i += index_group) {
    std::uint64_t group[index_group];
    std::uint64_t outside = 0;  // bit 63 is set by an index below 0 or above `last`
    if constexpr (Ahead > 0) __builtin_prefetch(indices.data() + i + Ahead);
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

/// The same for a body that misses the caches: ahead(index) is called `Distance` indices before
/// body(i, index), to prefetch what the body will read. If the body does more than one load, a
/// processor has too few instructions in flight to overlap the cache misses without this.
template <std::size_t Distance, class Ahead, class Body>
inline std::size_t for_each_in_range_ahead(std::span<const std::int64_t> indices,
                                           std::uint64_t size, Ahead ahead, Body body) {
  const auto index_at = [&](std::size_t i) { return static_cast<std::uint64_t>(indices[i]); };
  const auto head = indices.first(std::min(Distance, indices.size()));
  std::size_t seen =
      for_each_in_range(head, size, [&](std::size_t, std::uint64_t index) { ahead(index); });
  std::size_t used = 0;
  if (seen == Distance) {
    used =
        for_each_in_range(indices.subspan(Distance), size, [&](std::size_t i, std::uint64_t index) {
          ahead(index);
          body(i, index_at(i));
        });
    seen += used;
  }
  for (; used < seen; ++used) body(used, index_at(used));
  return used;
}

/// Throws errc::usage for the first index outside [0, size); names it, its position, the rank and
/// the operation. REQUIRES: there is one.
[[noreturn]] void throw_index_error(const char* operation, std::span<const std::int64_t> indices,
                                    std::uint64_t size, int rank);

}  // namespace longshore::detail

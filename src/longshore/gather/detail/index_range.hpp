// Whether indices lie in the table, found at the speed of memory, before anything is read with
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::detail {

/// A part of a table up to this size is close to its core: fetching ahead only costs.
inline constexpr std::size_t near_bytes = std::size_t{1} << 19;

/// Indices that one branch checks together, before any of them is used.
inline constexpr std::size_t index_group = 8;

/// Calls body(i, index) for the indices in their order, as long as they are in [0, size): stops
/// before the group with the first that is not. Returns how many were used. Costs two simple
/// operations per index and a branch per group. `Ahead`: indices fetched ahead of their use, for
/// walks that pause too often for the processor to see that they are walks. REQUIRES: size < 2^63.
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

/// The same for a body that will miss the caches: ahead(index) is called with each index `Distance`
/// elements before body(i, index), to fetch what the body will read. Processors have too few
/// instructions in flight to do that by themselves once there is more than a load to do per
/// element.
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

/// Throws errc::usage for the first index outside [0, size), which must be there: names it, its
/// position, the rank and the operation.
[[noreturn]] void refuse_indices(const char* operation, std::span<const std::int64_t> indices,
                                 std::uint64_t size, int rank);

}  // namespace longshore::detail

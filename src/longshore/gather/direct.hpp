// gather by plain loads from the memory of every rank: no message, no copy. Where all peers share memory nothing is faster.
#pragma once

#include <longshore/array/dist_array.hpp>
#include <longshore/gather/index_range.hpp>
#include <longshore/gather/streaming_store.hpp>

#include <cstddef>
#include <span>

namespace longshore::gathering {

/// Elements looked up together: their loads are independent of each other, and one branch checks the indices of all of them.
inline constexpr std::size_t direct_group = 8;

/// The loop. Stops before a group with an index out of range; returns how many elements were gathered.
template <bool Streaming, trivially_copyable T, class Locate>
std::size_t load_direct(const T* const* parts, std::uint64_t size, Locate locate, const std::int64_t* indices, T* out,
                        std::size_t count) noexcept {
  const std::uint64_t last = size - 1;
  const auto load = [&](std::uint64_t index, T* to) {
    const location at = locate(index);
    if constexpr (Streaming)
      stream_store(to, parts[at.rank][at.offset]);
    else
      *to = parts[at.rank][at.offset];
  };
  std::size_t i = 0;
  for (; i + direct_group <= count; i += direct_group) {
    std::uint64_t group[direct_group];
    range_flags range{last};
#pragma GCC unroll 8
    for (std::size_t k = 0; k < direct_group; ++k) {
      group[k] = static_cast<std::uint64_t>(indices[i + k]);
      range.look_at(group[k]);
    }
    if (!range.all_inside()) [[unlikely]]
      return i;
#pragma GCC unroll 8
    for (std::size_t k = 0; k < direct_group; ++k) load(group[k], out + i + k);
  }
  for (; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(indices[i]);
    if (index > last) return i;
    load(index, out + i);
  }
  return i;
}

/// Local. out[i] = table[indices[i]]. REQUIRES: table.is_all_direct(), as many elements in `out` as in `indices`.
/// Throws errc::usage for an index out of range; `out` is then written in part. `streaming`: whether the output passes the caches by.
/// Cost: no messages; per element 8 bytes of index and sizeof(T) of output from and to memory, one load of the table.
template <trivially_copyable T, distribution Distribution>
void gather_direct(const dist_array<T, Distribution>& table, std::span<const std::int64_t> indices, std::span<T> out,
                   bool streaming) {
  if (indices.empty()) return;
  if (table.size() == 0) refuse_indices(indices, 0, table.team().rank());
  const T* const* parts = table.direct_parts().data();
  const std::size_t done = table.map().with_locator([&](auto locate) {
    if (!streaming || !can_stream<T>)
      return load_direct<false>(parts, table.size(), locate, indices.data(), out.data(), indices.size());
    const std::size_t loaded = load_direct<true>(parts, table.size(), locate, indices.data(), out.data(), indices.size());
    end_streaming();
    return loaded;
  });
  if (done < indices.size()) refuse_indices(indices, table.size(), table.team().rank());
}

}  // namespace longshore::gathering

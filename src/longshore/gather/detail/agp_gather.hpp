// gather by strategy agp, with one access per element: a plain load if the owner's memory can be
// reached, else a get. Aggregation is compared with it. AGP (atomics, gets, puts; also "as god
// intended") is a term of bale.
#pragma once

#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <span>

namespace longshore::detail {

/// Gets in flight before the rank waits for their completion: enough to hide their latency, few
/// enough for any library.
inline constexpr std::size_t agp_window = 512;

/// The size of the request of a get, for wire_bytes.
inline constexpr std::size_t get_request_bytes = 8;

/// Local. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`. Throws
/// errc::usage for an index out of range; part of `out` is then written. Cost: 1 message of
/// sizeof(T) per element on another node, up to agp_window in flight; no memory.
template <trivially_copyable T, distribution Distribution>
void gather_agp(const table_view<T, Distribution>& table, std::span<const std::int64_t> indices,
                std::span<T> out, traffic& moved) {
  const T* const* parts = table.direct_parts().data();
  segment& memory = table.segment();
  std::uint64_t gets = 0;
  const std::size_t done = table.map().with_locator([&](auto locate) {
    std::size_t in_flight = 0;
    // The loop works on copies, since its stores could change objects in memory.
    return for_each_in_range(
        indices, table.size(),
        [&, locate, parts, to = out.data()](std::size_t i, std::uint64_t index) {
          const location at = locate(index);
          if (const T* part = parts[at.rank]) {
            to[i] = part[at.offset];
            return;
          }
          memory.get_start(at.rank, at.offset * sizeof(T), to + i, sizeof(T));
          ++gets;
          if (++in_flight == agp_window) {
            memory.quiet();
            in_flight = 0;
          }
        });
  });
  if (gets > 0) memory.quiet();
  if (done < indices.size())
    throw_index_error("gather", indices, table.size(), table.team().rank());
  moved.messages += gets;
  moved.wire_bytes += gets * (sizeof(T) + get_request_bytes);
  // Gets go to other nodes only: within a node all parts can be loaded from.
  moved.offnode_bytes += gets * (sizeof(T) + get_request_bytes);
}

}  // namespace longshore::detail

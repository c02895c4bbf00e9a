// gather with one access per element, "as god intended" (bale's name): a plain load where the
// owner's memory can be reached, else one get. What aggregation is measured against.
#pragma once

#include <longshore/gather/detail/index_range.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <span>

namespace longshore::detail {

/// Gets in flight before their completion is waited for: enough to hide their latency, few enough
/// for any library.
inline constexpr std::size_t agp_window = 512;

/// Bytes by which a get names what it wants: counted as the request in wire_bytes.
inline constexpr std::size_t get_request_bytes = 8;

/// Local. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`. Throws
/// errc::usage for an index out of range; `out` is then written in part. Cost: 1 message of
/// sizeof(T) per element that lies on another node, agp_window of them in flight; no memory.
template <trivially_copyable T, distribution Distribution>
void gather_agp(const table_parts<T, Distribution>& table, std::span<const std::int64_t> indices,
                std::span<T> out, traffic& moved) {
  const T* const* parts = table.direct_parts().data();
  segment& memory = table.segment();
  std::uint64_t gets = 0;
  const std::size_t done = table.map().with_locator([&](auto locate) {
    std::size_t in_flight = 0;
    // By value what every element needs: what is stored may alias what lies in memory.
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
  if (done < indices.size()) refuse_indices("gather", indices, table.size(), table.team().rank());
  moved.messages += gets;
  moved.wire_bytes += gets * (sizeof(T) + get_request_bytes);
  // within a node every part can be loaded from
  moved.offnode_bytes += gets * (sizeof(T) + get_request_bytes);
}

}  // namespace longshore::detail

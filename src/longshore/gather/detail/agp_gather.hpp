// gather by strategy agp, with one access per element: a load if the owner's memory can be reached,
// else a get. agp is the baseline for strategies that aggregate. AGP (atomics, gets, puts; also "as
// god intended") is a term of bale.
#pragma once

#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <span>

namespace longshore::detail {

/// Gets or puts in flight before the rank waits for their completion: enough to hide their latency,
/// few enough for any communication library.
inline constexpr std::size_t max_in_flight = 512;

/// Adds the traffic of accesses to other nodes, with `data_bytes` of data and a request of 8 bytes
/// per access. (Within a node, all parts can be reached directly.)
inline void count_accesses(traffic& moved, std::uint64_t accesses, std::size_t data_bytes) {
  constexpr std::size_t request_bytes = 8;
  moved.messages += accesses;
  moved.wire_bytes += accesses * (data_bytes + request_bytes);
  moved.offnode_bytes += accesses * (data_bytes + request_bytes);
}

/// Local. out[i] = table[indices[i]]. REQUIRES: `out` and `indices` have equal sizes. Throws
/// errc::usage for an index out of range; part of `out` is then written. Cost: a message of
/// sizeof(T) bytes per element on another node.
template <trivially_copyable T, distribution Distribution>
void gather_agp(const table_view<T, Distribution>& table, std::span<const std::int64_t> indices,
                std::span<T> out, traffic& moved) {
  const T* const* parts = table.direct_parts().data();
  segment& memory = table.segment();
  std::uint64_t gets = 0;
  const std::size_t loaded = table.map().with_locator([&](auto locate) {
    std::size_t in_flight = 0;
    // Captured by value: the stores to `out` might alias objects that are captured by reference.
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
          if (++in_flight == max_in_flight) {
            memory.quiet();
            in_flight = 0;
          }
        });
  });
  if (gets > 0) memory.quiet();
  if (loaded < indices.size())
    throw_index_error("gather", indices, table.size(), table.team().rank());
  count_accesses(moved, gets, sizeof(T));
}

}  // namespace longshore::detail

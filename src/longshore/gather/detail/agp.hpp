// Strategy agp: one access per element. If the owner's memory can be reached, the access is a load,
// a store or an atomic operation, else a get, a put or a fetch_add. agp is the baseline for
// strategies that aggregate. AGP (atomics, gets, puts; also "as god intended") is a term of bale.
#pragma once

#include <longshore/gather/detail/element_atomics.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/transport/traffic.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>

namespace longshore::detail {

/// With this number of gets or puts in flight, the rank waits until they are complete. They are
/// enough to hide their latency, and few enough for any communication library.
inline constexpr std::size_t max_in_flight = 512;

/// Adds the traffic of `accesses` accesses to other nodes. Each access moves `data_bytes` bytes of
/// data and a request of 8 bytes. (Within a node, all parts can be reached directly.)
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

/// Local. table[indices[i]] = values[i]. REQUIRES: `indices` and `values` have equal sizes. Throws
/// errc::usage for an index out of range; part of the table is then written. Cost: a message of
/// sizeof(T) bytes per element on another node.
template <trivially_copyable T, distribution Distribution>
requires is_one_word<T>
void scatter_agp(const char* operation, const table_view<T, Distribution>& table,
                 std::span<const std::int64_t> indices, std::span<const T> values, traffic& moved) {
  T* const* parts = table.direct_parts().data();
  segment& memory = table.segment();
  std::uint64_t puts = 0;
  const std::size_t stored = table.map().with_locator([&](auto locate) {
    std::size_t in_flight = 0;
    return for_each_in_range(
        indices, table.size(),
        [&, locate, parts, from = values.data()](std::size_t i, std::uint64_t index) {
          const location at = locate(index);
          if (T* part = parts[at.rank]) {
            store_atomically(part + at.offset, from[i]);
            return;
          }
          memory.put_start(at.rank, at.offset * sizeof(T), from + i, sizeof(T));
          ++puts;
          if (++in_flight == max_in_flight) {
            memory.quiet();
            in_flight = 0;
          }
        });
  });
  memory.quiet();
  if (stored < indices.size())
    throw_index_error(operation, indices, table.size(), table.team().rank());
  count_accesses(moved, puts, sizeof(T));
}

/// Whether transports have an atomic operation for this update. Strategy agp needs the operation
/// unless all ranks share memory.
template <class T, class Op>
inline constexpr bool is_fetch_add = std::integral<T> &&
                                     sizeof(T) == sizeof(std::int64_t) && std::same_as<Op, op::add>;

/// Local. table[indices[i]] = op(table[indices[i]], value_of(i)). REQUIRES: all_reachable or
/// is_fetch_add. Throws errc::usage for an index out of range; part of the table is then updated.
/// Cost per element: an atomic instruction if all_reachable, else a fetch_add. Many fetch_adds are
/// under way at the same time. `all_reachable`: whether all ranks can reach all parts.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op, class ValueOf>
requires is_one_word<T>
void update_agp(const char* operation, const table_view<T, Distribution>& table,
                std::span<const std::int64_t> indices, ValueOf value_of, const Op& op,
                bool all_reachable, traffic& moved) {
  T* const* parts = table.direct_parts().data();
  segment& memory = table.segment();
  std::uint64_t messages = 0;
  [[maybe_unused]] std::array<std::int64_t, max_in_flight> amounts, previous;
  [[maybe_unused]] std::size_t in_flight = 0;
  const std::size_t updated = table.map().with_locator([&](auto locate) {
    if (all_reachable)
      return for_each_in_range(indices, table.size(), [=](std::size_t i, std::uint64_t index) {
        const location at = locate(index);
        update_atomically(parts[at.rank] + at.offset, static_cast<T>(value_of(i)), op);
      });
    // Elements of this node also need the transport's atomic operations, because these are not
    // atomic with respect to atomic instructions of the processor.
    return for_each_in_range(indices, table.size(), [&](std::size_t i, std::uint64_t index) {
      const location at = locate(index);
      if constexpr (is_fetch_add<T, Op>) {
        amounts[in_flight] = static_cast<std::int64_t>(value_of(i));
        memory.fetch_add_start(at.rank, at.offset * sizeof(T), &amounts[in_flight],
                               &previous[in_flight]);
        if (++in_flight == max_in_flight) {
          memory.quiet();
          in_flight = 0;
        }
      }
      messages += parts[at.rank] == nullptr;
    });
  });
  memory.quiet();
  if (updated < indices.size())
    throw_index_error(operation, indices, table.size(), table.team().rank());
  count_accesses(moved, messages, 2 * sizeof(T));  // the value, and the previous element as reply
}

}  // namespace longshore::detail

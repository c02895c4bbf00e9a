// scatter by strategy direct: stores to the memory of every rank, without messages.
#pragma once

#include <longshore/gather/detail/element_atomics.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/strategy.hpp>

#include <cstddef>
#include <span>

namespace longshore::detail {

/// Whether a scatter by this strategy stores directly into the parts of other ranks. Strategy
/// direct does so for elements of one word only, since two ranks could mix the words of a larger
/// element. Larger elements are sent to their owners through exstack in shared memory.
template <trivially_copyable T>
[[nodiscard]] constexpr bool scatters_by_stores(gather_strategy strategy) noexcept {
  return strategy == gather_strategy::direct && is_one_word<T>;
}

/// Local. table[indices[i]] = values[i]. REQUIRES: `indices` and `values` have equal sizes;
/// table.is_all_direct(). Throws errc::usage for an index out of range; part of the table is then
/// written. Cost per element: 8 bytes of index and sizeof(T) bytes of value read, and a store.
template <trivially_copyable T, distribution Distribution>
requires is_one_word<T>
void scatter_direct(const char* operation, const table_view<T, Distribution>& table,
                    std::span<const std::int64_t> indices, std::span<const T> values) {
  T* const* parts = table.direct_parts().data();
  const T* const from = values.data();
  const std::size_t stored = table.map().with_locator([&](auto locate) {
    return for_each_in_range(indices, table.size(), [=](std::size_t i, std::uint64_t index) {
      const location at = locate(index);
      store_atomically(parts[at.rank] + at.offset, from[i]);
    });
  });
  if (stored < indices.size())
    throw_index_error(operation, indices, table.size(), table.team().rank());
}

}  // namespace longshore::detail

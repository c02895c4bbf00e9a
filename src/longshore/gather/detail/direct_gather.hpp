// gather by strategy direct: loads from the memory of every rank, without messages. If all ranks
// share memory, no strategy is faster.
#pragma once

#include <longshore/core/streaming_store.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// Holds the addresses of all parts of a table, 8 bytes per rank. Cost per element: 8 bytes of
/// index read, a load from the table and sizeof(T) bytes of output written.
template <trivially_copyable T, distribution Distribution>
class direct_gather {
 public:
  /// Local. REQUIRES: table.is_all_direct().
  explicit direct_gather(const table_view<T, Distribution>& table)
      : table_(table), part_addresses_(table.direct_parts().size()) {
    const bool is_block_distributed = table.map().with_locator(
        [](auto locate) { return block::is_located_by<decltype(locate)>; });
    for (std::size_t rank = 0; rank < part_addresses_.size(); ++rank) {
      part_addresses_[rank] = reinterpret_cast<std::uintptr_t>(table.direct_parts()[rank]);
      // In a block distribution, shifts each part as if the part began at global index 0. The loop
      // then adds the global index and needs no offset.
      if (is_block_distributed)
        part_addresses_[rank] -= table.map().index_of(static_cast<int>(rank), 0) * sizeof(T);
    }
  }

  /// Local. out[i] = table[indices[i]]. REQUIRES: `out` and `indices` have equal sizes.
  /// `streaming`: whether stores to `out` bypass the caches. Throws errc::usage for an index out of
  /// range; part of `out` is then written.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out, bool streaming) const {
    const bool prefetch = table_.size() * sizeof(T) > max_unprefetched_bytes;
    const std::size_t loaded = table_.map().with_locator([&](auto locate) {
      if (!streaming || !can_stream<T>)
        return prefetch ? load<false, true>(locate, indices, out.data())
                        : load<false, false>(locate, indices, out.data());
      const std::size_t streamed = prefetch ? load<true, true>(locate, indices, out.data())
                                            : load<true, false>(locate, indices, out.data());
      fence_streaming_stores();
      return streamed;
    });
    if (loaded < indices.size())
      throw_index_error("gather", indices, table_.size(), table_.team().rank());
  }

 private:
  // For tables up to this size, prefetching costs more than it saves.
  static constexpr std::uint64_t max_unprefetched_bytes = std::uint64_t{1} << 20;
  // A distance in elements. 16 hides less latency, and 64 hides no more.
  static constexpr std::size_t prefetch_distance = 32;

  // Returns the number of loaded elements, like for_each_in_range.
  template <bool Streaming, bool Prefetch, class Locate>
  std::size_t load(Locate locate, std::span<const std::int64_t> indices, T* out) const noexcept {
    constexpr bool is_block_distributed = block::is_located_by<Locate>;
    const auto address_of = [locate, parts = part_addresses_.data()](std::uint64_t index) {
      const location at = locate(index);
      return reinterpret_cast<const T*>(parts[at.rank]) +
             (is_block_distributed ? index : at.offset);
    };
    const auto copy = [address_of, out](std::size_t i, std::uint64_t index) {
      if constexpr (Streaming)
        stream_store(out + i, *address_of(index));
      else
        out[i] = *address_of(index);
    };
    if constexpr (Prefetch)
      return for_each_in_range_prefetched<prefetch_distance>(
          indices, table_.size(),
          [address_of](std::uint64_t index) { __builtin_prefetch(address_of(index)); }, copy);
    else
      return for_each_in_range(indices, table_.size(), copy);
  }

  const table_view<T, Distribution>& table_;
  std::vector<std::uintptr_t> part_addresses_;  // indexed by rank
};

}  // namespace longshore::detail

// gather by strategy direct: plain loads from the memory of every rank, without messages or copies.
// If all ranks share memory, no strategy is faster.
#pragma once

#include <longshore/core/streaming_store.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// The addresses of the parts of a table, prepared for the loop. Cost: no messages; per element 8
/// bytes of index read, sizeof(T) bytes of output written and one load of the table. Memory: 8
/// bytes per rank.
template <trivially_copyable T, distribution Distribution>
class direct_gather {
 public:
  /// Local. REQUIRES: table.is_all_direct().
  explicit direct_gather(const table_view<T, Distribution>& table)
      : table_(table), starts_(table.direct_parts().size()) {
    const bool in_pieces = table.map().with_locator(
        [](auto locate) { return block::is_located_by<decltype(locate)>; });
    for (std::size_t rank = 0; rank < starts_.size(); ++rank) {
      starts_[rank] = reinterpret_cast<std::uintptr_t>(table.direct_parts()[rank]);
      // Shifts each part as if it began at global index 0, so the loop needs no offsets.
      if (in_pieces) starts_[rank] -= table.map().index_of(static_cast<int>(rank), 0) * sizeof(T);
    }
  }

  /// Local. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`.
  /// `streaming`: whether stores to `out` bypass the caches. Throws errc::usage for an index out of
  /// range; part of `out` is then written.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out, bool streaming) const {
    const bool misses = table_.size() * sizeof(T) > cached_bytes;
    const std::size_t done = table_.map().with_locator([&](auto locate) {
      if (!streaming || !can_stream<T>)
        return misses ? load<false, true>(locate, indices, out.data())
                      : load<false, false>(locate, indices, out.data());
      const std::size_t loaded = misses ? load<true, true>(locate, indices, out.data())
                                        : load<true, false>(locate, indices, out.data());
      fence_streaming_stores();
      return loaded;
    });
    if (done < indices.size())
      throw_index_error("gather", indices, table_.size(), table_.team().rank());
  }

 private:
  // For tables up to this size prefetching costs more than it saves.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{1} << 20;
  static constexpr std::size_t fetch_ahead = 32;  // elements; 16 hide less latency, 64 hide no more

  template <bool Streaming, bool FetchAhead, class Locate>
  std::size_t load(Locate locate, std::span<const std::int64_t> indices, T* out) const noexcept {
    constexpr bool in_pieces = block::is_located_by<Locate>;
    const auto element = [locate, starts = starts_.data()](std::uint64_t index) {
      const location at = locate(index);
      return reinterpret_cast<const T*>(starts[at.rank]) + (in_pieces ? index : at.offset);
    };
    const auto take = [element, out](std::size_t i, std::uint64_t index) {
      if constexpr (Streaming)
        stream_store(out + i, *element(index));
      else
        out[i] = *element(index);
    };
    if constexpr (FetchAhead)
      return for_each_in_range_ahead<fetch_ahead>(
          indices, table_.size(),
          [element](std::uint64_t index) { __builtin_prefetch(element(index)); }, take);
    else
      return for_each_in_range(indices, table_.size(), take);
  }

  const table_view<T, Distribution>& table_;
  std::vector<std::uintptr_t> starts_;  // by rank
};

}  // namespace longshore::detail

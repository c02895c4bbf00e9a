// The base of exstack_gather and exstack_requests: fills the buffers of an exstack with one item
// per index, and exchanges them round by round.
#pragma once

#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/array/distribution.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/transport/detail/rank_cursors.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// exstack_rounds::fill() returns this value if an index is out of range.
inline constexpr std::size_t fill_failed = std::numeric_limits<std::size_t>::max();

class exstack_rounds {
 public:
  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  [[nodiscard]] const exchange_stats& stats() const noexcept { return stats_; }
  /// The rounds of the last call, the same on all ranks; 0 if the call failed.
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }

 protected:
  /// Collective. `buffer_bytes`: the bytes of buffer_items items with their header.
  exstack_rounds(team& team, std::size_t buffer_items, std::size_t buffer_bytes, bool combine);

  /// Collective. Exchanges the requests in the buffers. `filled`: the result of fill(). Returns the
  /// progress of all ranks. If a rank failed, throws errc::usage on that rank and errc::peer_failed
  /// on the other ranks.
  progress exchange_requests(const char* operation, std::span<const std::int64_t> indices,
                             std::uint64_t table_size, std::size_t filled);

  /// Local. Calls put(cursors, i, location) for the indices from position `first` on, until a
  /// buffer is full or max_indices indices were used. `put` writes at most one item, as in
  /// *cursors.take(location.rank) = item. Returns the first position that was not used, or
  /// fill_failed if an index is not in [0, size). The indices are taken in batches. A batch is at
  /// most as long as the free space of the fullest buffer, so the inner loop need not check for
  /// space.
  template <class Item, class Offset, class Locate, class Put>
  std::size_t fill(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                   std::uint64_t size, Put put, std::size_t max_indices = fill_failed) {
    exstack::send_buffer* const buffers = stack_.buffers();
    for (int peer = 0; peer < ranks_; ++peer) next_[peer] = buffers[peer].next;
    const auto until = indices.first(first + smaller(max_indices, indices.size() - first));
    const auto push_until_full = [&](auto cursors) {
      const std::size_t end = push<Item>(locate, until, first, size, put, cursors);
      if (end != fill_failed)
        for (int peer = 0; peer < ranks_; ++peer) buffers[peer].next = cursors.next(peer);
      return end;
    };
    if constexpr (sizeof(Offset) < sizeof(std::uint64_t))
      return with_cursors<Item, cursor_use::write>(next_.data(), ranks_, buffer_items_,
                                                   push_until_full);
    else
      return push_until_full(array_cursors<Item, cursor_use::write>(next_.data()));
  }

  team& team_;
  int ranks_;
  std::size_t buffer_items_;
  exstack stack_;
  // Indexed by rank: the address of the next item. For callers between calls of fill().
  std::vector<std::byte*> next_;
  std::optional<recent_items> recent_;  // only with combining
  exchange_stats stats_;
  std::size_t rounds_ = 0;

 private:
  // 16 KiB of indices. A distance of more than one round does no harm.
  static constexpr std::size_t prefetch_indices = 2048;

  template <class Item, class Locate, class Put, class Cursors>
  std::size_t push(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                   std::uint64_t size, Put put, Cursors& cursors) {
    // The cursors advance, while buffers[peer].next stays at the first item of this call.
    const exstack::send_buffer* const buffers = stack_.buffers();
    const auto free_items = [&](int peer) {
      return buffer_items_ -
             static_cast<std::size_t>(cursors.next(peer) - buffers[peer].next) / sizeof(Item);
    };
    const auto min_batch = static_cast<std::size_t>(larger(32, ranks_));
    std::size_t i = first;
    while (i < indices.size()) {
      std::size_t fits_anywhere = buffer_items_;
      for (int peer = 0; peer < ranks_; ++peer)
        fits_anywhere = smaller(fits_anywhere, free_items(peer));
      if (fits_anywhere < min_batch) break;
      const auto batch = indices.subspan(i, smaller(indices.size() - i, fits_anywhere));
      Cursors in_registers = cursors;  // the compiler keeps a local copy in registers
      const std::size_t used = for_each_in_range<prefetch_indices>(
          batch, size,
          [&](std::size_t k, std::uint64_t index) { put(in_registers, i + k, locate(index)); });
      cursors = in_registers;
      if (used < batch.size()) return fill_failed;
      i += used;
    }
    for (; i < indices.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      if (index >= size) return fill_failed;
      const location at = locate(index);
      if (free_items(at.rank) == 0) break;
      put(cursors, i, at);
    }
    return i;
  }
};

}  // namespace longshore::detail

// Fills the buffers of an exstack with one item per index. Shared by gathers and by requests of
// scatter and updates.
#pragma once

#include <longshore/aggregate/exstack.hpp>
#include <longshore/aggregate/rank_cursors.hpp>
#include <longshore/array/distribution.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace longshore::detail {

/// The result of exstack_filler::fill() if an index is out of range.
inline constexpr std::size_t fill_failed = std::numeric_limits<std::size_t>::max();

/// Puts one item per index into the buffers of an exstack. Most indices need no check whether a
/// buffer is full: they come in batches that fit any buffer.
class exstack_filler {
 public:
  exstack_filler(exstack& stack, int ranks, std::size_t buffer_items)
      : stack_(stack),
        ranks_(ranks),
        buffer_items_(buffer_items),
        next_(static_cast<std::size_t>(ranks)) {}

  /// Calls put(cursors, i, location) for the indices from `first` on, until a buffer may be full or
  /// `most` indices were used. `put` writes at most one item: *cursors.take(location.rank) = item.
  /// Returns where it stopped, or fill_failed if an index is not in [0, size). Local.
  template <class Item, class Offset, class Locate, class Put>
  std::size_t fill(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                   std::uint64_t size, Put put, std::size_t most = fill_failed) {
    exstack_access::send_buffer* const buffers = exstack_access::buffers(stack_);
    for (int peer = 0; peer < ranks_; ++peer) next_[peer] = buffers[peer].next;
    const auto until = indices.first(first + std::min(most, indices.size() - first));
    const auto work = [&](auto cursors) {
      const std::size_t end = push<Item>(locate, until, first, size, put, cursors);
      if (end != fill_failed)
        for (int peer = 0; peer < ranks_; ++peer) buffers[peer].next = cursors.next(peer);
      return end;
    };
    if constexpr (sizeof(Offset) < sizeof(std::uint64_t))
      return with_cursors<Item>(next_.data(), ranks_, buffer_items_, work);
    else
      return work(array_cursors<Item>(next_.data()));
  }

  /// One pointer per rank, which callers may use between fills.
  [[nodiscard]] std::vector<std::byte*>& pointers() noexcept { return next_; }

 private:
  // 16 KiB: even if that is several rounds, it does no harm
  static constexpr std::size_t prefetch_items = 2048;

  template <class Item, class Locate, class Put, class Cursors>
  std::size_t push(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                   std::uint64_t size, Put put, Cursors& cursors) {
    // `next` of the buffers stays at the start of this fill; the cursors advance.
    const exstack_access::send_buffer* const buffers = exstack_access::buffers(stack_);
    const auto free_places = [&](int peer) {
      return buffer_items_ -
             static_cast<std::size_t>(cursors.next(peer) - buffers[peer].next) / sizeof(Item);
    };
    const auto few_places = static_cast<std::size_t>(std::max(32, ranks_));
    std::size_t i = first;
    while (i < indices.size()) {
      std::size_t places = buffer_items_;
      for (int peer = 0; peer < ranks_; ++peer) places = std::min(places, free_places(peer));
      if (places < few_places) break;
      // A batch of so many items fits whichever rank they go to: its loop checks no buffers.
      const auto batch = indices.subspan(i, std::min(indices.size() - i, places));
      Cursors ahead = cursors;  // a copy, so that it lives in registers
      const std::size_t done = for_each_in_range<prefetch_items>(
          batch, size,
          [&](std::size_t k, std::uint64_t index) { put(ahead, i + k, locate(index)); });
      cursors = ahead;
      if (done < batch.size()) return fill_failed;
      i += done;
    }
    for (; i < indices.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      if (index >= size) return fill_failed;
      const location at = locate(index);
      if (free_places(at.rank) == 0) break;
      put(cursors, i, at);
    }
    return i;
  }

  exstack& stack_;
  int ranks_;
  std::size_t buffer_items_;
  std::vector<std::byte*> next_;  // by rank: where its next item goes
};

}  // namespace longshore::detail

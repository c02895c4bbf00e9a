// Fills the buffers of an exstack with one item per index, at the speed of memory: what questions
// and requests have in common.
#pragma once

#include <longshore/aggregate/cursors.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/array/distribution.hpp>
#include <longshore/gather/detail/index_range.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace longshore::detail {

/// What exstack_fill returns before an index that is out of range.
inline constexpr std::size_t fill_refused = std::numeric_limits<std::size_t>::max();

class exstack_filler {
 public:
  exstack_filler(exstack& stack, int ranks, std::size_t buffer_items)
      : stack_(stack),
        ranks_(ranks),
        buffer_items_(buffer_items),
        next_(static_cast<std::size_t>(ranks)) {}

  /// Calls put(cursors, i, location) for the indices from `first` until a buffer might be full, or
  /// `most` of them. `put` takes at most one place: *cursors.take(location.rank) = item. Returns
  /// where it stopped, or fill_refused before an index that is not in [0, size). Local.
  template <class Item, class Offset, class Locate, class Put>
  std::size_t fill(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                   std::uint64_t size, Put put, std::size_t most = fill_refused) {
    exstack::lane* const lanes = stack_.lanes();
    for (int peer = 0; peer < ranks_; ++peer) next_[peer] = lanes[peer].next;
    const auto until = indices.first(first + std::min(most, indices.size() - first));
    const auto work = [&](auto cursors) {
      const std::size_t end = push<Item>(locate, until, first, size, put, cursors);
      if (end != fill_refused)
        for (int peer = 0; peer < ranks_; ++peer) lanes[peer].next = cursors.next(peer);
      return end;
    };
    if constexpr (sizeof(Offset) < sizeof(std::uint64_t))
      return with_cursors<Item>(next_.data(), ranks_, buffer_items_, work);
    else
      return work(array_cursors<Item>(next_.data()));
  }

  /// One pointer per rank to work with, between fills.
  [[nodiscard]] std::vector<std::byte*>& pointers() noexcept { return next_; }

 private:
  // some rounds' worth would do no harm: it is 16 KiB
  static constexpr std::size_t prefetch_items = 2048;

  template <class Item, class Locate, class Put, class Cursors>
  std::size_t push(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                   std::uint64_t size, Put put, Cursors& cursors) {
    // where the buffers begin; the cursors are ahead of them
    const exstack::lane* const lanes = stack_.lanes();
    const auto places_left = [&](int peer) {
      return buffer_items_ -
             static_cast<std::size_t>(cursors.next(peer) - lanes[peer].next) / sizeof(Item);
    };
    const auto few_places = static_cast<std::size_t>(std::max(32, ranks_));
    std::size_t i = first;
    while (i < indices.size()) {
      std::size_t places = buffer_items_;
      for (int peer = 0; peer < ranks_; ++peer) places = std::min(places, places_left(peer));
      if (places < few_places) break;
      // So many fit whatever their destinations are: no check of the buffers.
      const auto stretch = indices.subspan(i, std::min(indices.size() - i, places));
      Cursors ahead = cursors;  // a copy, so that it lives in registers
      const std::size_t done = for_each_in_range<prefetch_items>(
          stretch, size,
          [&](std::size_t k, std::uint64_t index) { put(ahead, i + k, locate(index)); });
      cursors = ahead;
      if (done < stretch.size()) return fill_refused;
      i += done;
    }
    for (; i < indices.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      if (index >= size) return fill_refused;
      const location at = locate(index);
      if (places_left(at.rank) == 0) break;
      put(cursors, i, at);
    }
    return i;
  }

  exstack& stack_;
  int ranks_;
  std::size_t buffer_items_;
  std::vector<std::byte*> next_;  // by rank: where its next item lies
};

}  // namespace longshore::detail

// gather by strategy exstack: rounds of requests and replies. In a round, offsets go to the owners
// of the elements, and values come back in the same order. A second pass over the indices then
// knows which value belongs to which index, so messages contain no tags (as in ig_exstack of bale).
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/gather/detail/exstack_rounds.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace longshore::detail {

/// The buffers for gathers from one table. Cost of n requests per rank, evenly spread over P ranks,
/// with buffers of b items: about n / (P b) rounds. In a round a rank sends P messages of up to b
/// offsets (4 bytes each, or 8 if a part has 2^32 elements or more) and P messages of up to b
/// values. Memory per rank: 2 P b max(sizeof(T), size of an offset) bytes, twice that for ranks on
/// other nodes.
///
/// With `combine`, most elements are requested once per round, even if several indices of the round
/// are equal. (A small table remembers the recent requests, and entries overwrite each other.) A
/// round then takes at most 2 P b indices, and the memory grows by up to 16 P b bytes.
template <trivially_copyable T, distribution Distribution>
class exstack_gather : public exstack_rounds {
 public:
  /// Collective. REQUIRES: buffer_items > 0, the same on all ranks.
  exstack_gather(const table_view<T, Distribution>& table, std::size_t buffer_items, bool combine)
      : exstack_rounds(table.team(), buffer_items,
                       buffer_items * larger(sizeof(T), offset_bytes(table.map())), combine),
        table_(table) {
    if (!combine) return;
    reply_positions_.resize(2 * buffer_items * static_cast<std::size_t>(table.team().size()));
  }

  /// Collective. out[i] = table[indices[i]]. REQUIRES: `out` and `indices` have equal sizes. For an
  /// index out of range, throws errc::usage on this rank and errc::peer_failed on the other ranks;
  /// the object can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    with_offsets(table_.map(),
                 [&](auto offset, auto locate) { run<decltype(offset)>(locate, indices, out); });
  }

 private:
  template <class Offset, class Locate>
  void run(Locate locate, std::span<const std::int64_t> indices, std::span<T> out) {
    std::size_t replied = 0;
    rounds_ = 0;
    for (progress of_all = progress::more; of_all == progress::more;) {
      stack_.count_exchanges_in(stats_.requests,
                                {.item_bytes = sizeof(Offset), .capacity_items = buffer_items_});
      const std::size_t requested = fill_requests<Offset>(locate, indices, replied);
      of_all = exchange_requests("gather", indices, table_.size(), requested);
      reply_to_requests<Offset>();
      stack_.count_exchanges_in(stats_.replies,
                                {.item_bytes = sizeof(T), .capacity_items = buffer_items_}, true);
      stack_.exchange(of_all);
      store_replies(locate, indices.data(), out.data(), replied, requested);
      replied = requested;
    }
  }

  // Fills the buffers with offsets, for the indices from position `first` on. Returns the same as
  // fill().
  template <class Offset, class Locate>
  std::size_t fill_requests(Locate locate, std::span<const std::int64_t> indices,
                            std::size_t first) {
    if (recent_) return fill_requests_combined<Offset>(locate, indices, first);
    return fill<Offset, Offset>(locate, indices, first, table_.size(),
                                [](auto& cursors, std::size_t, const location& at) {
                                  *cursors.take(at.rank) = static_cast<Offset>(at.offset);
                                });
  }

  // Like fill_requests, but with combining. Records the position of the reply for each index.
  template <class Offset, class Locate>
  std::size_t fill_requests_combined(Locate locate, std::span<const std::int64_t> indices,
                                     std::size_t first) {
    const exstack::send_buffer* const buffers = stack_.buffers();
    std::uint32_t* const positions = reply_positions_.data();
    return fill<Offset, Offset>(
        locate, indices, first, table_.size(),
        [&](auto& cursors, std::size_t i, const location& at) {
          const Offset* const begin = reinterpret_cast<const Offset*>(buffers[at.rank].next);
          const Offset* const end = reinterpret_cast<const Offset*>(cursors.next(at.rank));
          std::uint32_t& guess = recent_->guess(at.rank, at.offset);
          if (begin + guess >= end || begin[guess] != at.offset) {
            guess = static_cast<std::uint32_t>(end - begin);
            *cursors.take(at.rank) = static_cast<Offset>(at.offset);
          }
          positions[i - first] = guess;
        },
        reply_positions_.size());
  }

  // Not inlined, so that the loop is compiled once per type of offset, not once per distribution.
  template <class Offset>
  [[gnu::noinline]] void reply_to_requests() {
    const T* const local_part = table_.local().data();
    exstack::send_buffer* const buffers = stack_.buffers();
    const int ranks = table_.team().size();
    for (int peer = 0; peer < ranks; ++peer) {
      // With many ranks, most buffers are in no cache.
      if (const int later = peer + channel_receiver::peers_ahead; later < ranks)
        __builtin_prefetch(buffers[later].next, 1);
      const std::span<const Offset> offsets = stack_.arrived<Offset>(peer);
      T* const values = reinterpret_cast<T*>(buffers[peer].next);
      for (std::size_t k = 0; k < offsets.size(); ++k) values[k] = local_part[offsets[k]];
      buffers[peer].next += offsets.size() * sizeof(T);
    }
  }

  // Stores the values that arrived for indices `begin` to `end` - 1.
  template <class Locate>
  void store_replies(Locate locate, const std::int64_t* indices, T* out, std::size_t begin,
                     std::size_t end) {
    const int ranks = table_.team().size();
    auto& next = next_;
    // with_cursors takes pointers to non-const, but this loop only reads through the pointers.
    for (int peer = 0; peer < ranks; ++peer)
      next[peer] = const_cast<std::byte*>(
          reinterpret_cast<const std::byte*>(stack_.arrived<T>(peer).data()));
    const auto rank_of = [=](std::size_t i) {
      return locate(static_cast<std::uint64_t>(indices[i])).rank;
    };
    if (recent_) {
      for (std::size_t i = begin; i < end; ++i)
        out[i] = reinterpret_cast<const T*>(next[rank_of(i)])[reply_positions_[i - begin]];
      return;
    }
    with_cursors<T, cursor_use::read>(next.data(), ranks, buffer_items_, [&](auto cursors) {
      for (std::size_t i = begin; i < end; ++i) out[i] = *cursors.take(rank_of(i));
    });
  }

  const table_view<T, Distribution>& table_;
  // For each index of a round, the position of its value in the reply message. Only with combining.
  std::vector<std::uint32_t> reply_positions_;
};

}  // namespace longshore::detail

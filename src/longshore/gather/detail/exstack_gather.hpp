// gather by strategy exstack: rounds of requests and replies. Offsets go to the owners, values come
// back in the same order. Each rank then goes through its indices a second time to store each
// value, so neither offsets nor values need a tag (as in ig_exstack of bale).
#pragma once

#include <longshore/aggregate/exstack.hpp>
#include <longshore/aggregate/recent_items.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/exstack_filler.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/exchange_stats.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// The buffers for gathers from one table, made once and used often. Cost of n requests per rank,
/// evenly spread over P ranks, with buffers of b items: about n / (P b) rounds of 2 P messages, of
/// up to 4 b bytes (8 b if a part has 2^32 elements or more) and sizeof(T) b bytes. Memory per
/// rank: 2 P b max(sizeof(T), 4 or 8) bytes, twice that for other nodes.
///
/// With `combine`, a round requests an element once, even if several of its indices are equal. (Of
/// elements that share an entry in a small table, only the last is recognised.) A round then takes
/// at most 2 P b indices, and the memory grows by 16 P b bytes.
template <trivially_copyable T, distribution Distribution>
class exstack_gather {
 public:
  /// Collective. REQUIRES: buffer_items > 0, the same on all ranks.
  exstack_gather(const table_view<T, Distribution>& table, std::size_t buffer_items,
                 bool combine = false)
      : table_(table),
        buffer_items_(buffer_items),
        stack_(table.team(), buffer_items * std::max(sizeof(T), offset_bytes(table.map()))),
        filler_(stack_, table.team().size(), buffer_items) {
    if (!combine) return;
    recent_.emplace(table.team().size(), buffer_items);
    reply_positions_.resize(2 * buffer_items * static_cast<std::size_t>(table.team().size()));
  }

  /// Collective. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`.
  /// Throws errc::usage for an index out of range, and errc::peer_failed on the other ranks; the
  /// object can be used again after both.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    with_offsets(table_.map(),
                 [&](auto offset, auto locate) { run<decltype(offset)>(locate, indices, out); });
  }

  /// Collective with operator() of the other ranks: tells them that this rank failed.
  void fail_use() { stack_.exchange(progress::failed); }

  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  [[nodiscard]] const exchange_stats& stats() const noexcept { return stats_; }

 private:
  template <class Offset, class Locate>
  void run(Locate locate, std::span<const std::int64_t> indices, std::span<T> out) {
    std::size_t replied = 0;
    progress all = progress::more;
    while (all == progress::more) {
      exstack_access::count_in(stack_, stats_.requests,
                               {.item_bytes = sizeof(Offset), .capacity_items = buffer_items_});
      const std::size_t requested = fill_requests<Offset>(locate, indices, replied);
      if (requested == fill_failed) {
        fail_use();
        throw_index_error("gather", indices, table_.size(), table_.team().rank());
      }
      all = stack_.exchange(requested == indices.size() ? progress::done : progress::more);
      if (all == progress::failed) throw_peer_failed("gather", table_.team(), stack_.failed_rank());
      reply_to_requests<Offset>();
      exstack_access::count_in(stack_, stats_.replies,
                               {.item_bytes = sizeof(T), .capacity_items = buffer_items_});
      stack_.exchange(all);
      store_replies(locate, indices.data(), out.data(), replied, requested);
      replied = requested;
    }
  }

  // Fills the buffers with the offsets of the indices from `first` on, until a buffer is full.
  // Returns where it stopped, or fill_failed.
  template <class Offset, class Locate>
  std::size_t fill_requests(Locate locate, std::span<const std::int64_t> indices,
                            std::size_t first) {
    if (recent_) return fill_requests_combined<Offset>(locate, indices, first);
    return filler_.template fill<Offset, Offset>(
        locate, indices, first, table_.size(), [](auto& cursors, std::size_t, const location& at) {
          *cursors.take(at.rank) = static_cast<Offset>(at.offset);
        });
  }

  // The same, but requests each element once per round. Records which reply each index gets.
  template <class Offset, class Locate>
  std::size_t fill_requests_combined(Locate locate, std::span<const std::int64_t> indices,
                                     std::size_t first) {
    const exstack_access::send_buffer* const buffers = exstack_access::buffers(stack_);
    std::uint32_t* const positions = reply_positions_.data();
    return filler_.template fill<Offset, Offset>(
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

  template <class Offset>
  // not inlined: compiled once per type of offset, not once per distribution
  [[gnu::noinline]] void reply_to_requests() {
    const T* const local_part = table_.local().data();
    exstack_access::send_buffer* const buffers = exstack_access::buffers(stack_);
    for (int peer = 0; peer < table_.team().size(); ++peer) {
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
    auto& next = filler_.pointers();
    // with_cursors takes pointers to non-const; here they only read.
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
    with_cursors<T>(next.data(), ranks, buffer_items_, [&](auto cursors) {
      for (std::size_t i = begin; i < end; ++i) out[i] = *cursors.take(rank_of(i));
    });
  }

  const table_view<T, Distribution>& table_;
  std::size_t buffer_items_;
  exstack stack_;
  exstack_filler filler_;
  exchange_stats stats_;
  std::optional<recent_items> recent_;
  // With recent_, for each index of a round: the position of its reply among those of its rank.
  std::vector<std::uint32_t> reply_positions_;
};

}  // namespace longshore::detail

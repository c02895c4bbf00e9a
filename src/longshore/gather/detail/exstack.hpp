// gather in rounds of questions and answers over exstack: offsets go out, values come back in the
// same order, and the own indices are walked a second time to put each value where it belongs, so
// that neither needs a tag (bale's ig_exstack does the same).
#pragma once

#include <longshore/aggregate/exstack.hpp>
#include <longshore/aggregate/recent_items.hpp>
#include <longshore/gather/detail/exstack_fill.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/gather/exchange_report.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// The buffers of one table's exchanges, kept between uses. Cost of n requests per rank, evenly
/// spread over P ranks with buffers of b items: some n / (P b) rounds of 2 P messages, of up to 4 b
/// (8 b where a part has more than 2^32 elements) and sizeof(T) b bytes. Memory per rank: 2 P b
/// max(sizeof(T), 4 or 8), twice that towards other nodes. `combine`, which asks for an element
/// that a round wants more than once only once (of those that share a place in a small table the
/// last), takes at most 2 P b indices in a round, and 16 P b bytes more.
template <trivially_copyable T, distribution Distribution>
class exstack_gather {
 public:
  /// Collective. REQUIRES: buffer_items > 0, the same on all ranks.
  exstack_gather(const table_parts<T, Distribution>& table, std::size_t buffer_items,
                 bool combine = false)
      : table_(table),
        buffer_items_(buffer_items),
        stack_(table.team(), buffer_items * std::max(sizeof(T), offset_bytes(table.map()))),
        filler_(stack_, table.team().size(), buffer_items) {
    if (!combine) return;
    recent_.emplace(table.team().size(), buffer_items);
    answers_.resize(2 * buffer_items * static_cast<std::size_t>(table.team().size()));
  }

  /// Collective. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`.
  /// Throws errc::usage for an index out of range, and errc::peer_failed on the other ranks; the
  /// object can be used again after both.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    with_offsets(table_.map(),
                 [&](auto offset, auto locate) { run<decltype(offset)>(locate, indices, out); });
  }

  /// Collective with operator() of the other ranks: tells them that this rank cannot take part.
  void refuse() { stack_.exchange(progress::failed); }

  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  [[nodiscard]] const exchange_report& report() const noexcept { return report_; }

 private:
  template <class Offset, class Locate>
  void run(Locate locate, std::span<const std::int64_t> indices, std::span<T> out) {
    std::size_t answered = 0;
    progress all = progress::more;
    while (all == progress::more) {
      stack_.count_in(report_.requests,
                      {.item_bytes = sizeof(Offset), .capacity_items = buffer_items_});
      const std::size_t asked = ask<Offset>(locate, indices, answered);
      if (asked == fill_refused) {
        refuse();
        refuse_indices("gather", indices, table_.size(), table_.team().rank());
      }
      all = stack_.exchange(asked == indices.size() ? progress::done : progress::more);
      if (all == progress::failed)
        fail(errc::peer_failed,
             "gather on rank {} was given up: rank {} has indices or an output that cannot be used",
             table_.team().rank(), stack_.failed_rank());
      answer<Offset>();
      stack_.count_in(report_.replies, {.item_bytes = sizeof(T), .capacity_items = buffer_items_});
      stack_.exchange(all);
      place(locate, indices.data(), out.data(), answered, asked);
      answered = asked;
    }
  }

  // Pushes the offsets of indices from `first` until a buffer is full. Returns where it stopped, or
  // fill_refused.
  template <class Offset, class Locate>
  std::size_t ask(Locate locate, std::span<const std::int64_t> indices, std::size_t first) {
    if (recent_) return ask_once<Offset>(locate, indices, first);
    return filler_.template fill<Offset, Offset>(
        locate, indices, first, table_.size(), [](auto& cursors, std::size_t, const location& at) {
          *cursors.take(at.rank) = static_cast<Offset>(at.offset);
        });
  }

  // The same with each element asked for once per round; notes which answer each index gets.
  template <class Offset, class Locate>
  std::size_t ask_once(Locate locate, std::span<const std::int64_t> indices, std::size_t first) {
    const exstack::lane* const lanes = stack_.lanes();
    std::uint32_t* const answers = answers_.data();
    return filler_.template fill<Offset, Offset>(
        locate, indices, first, table_.size(),
        [&](auto& cursors, std::size_t i, const location& at) {
          const Offset* const begin = reinterpret_cast<const Offset*>(lanes[at.rank].next);
          const Offset* const end = reinterpret_cast<const Offset*>(cursors.next(at.rank));
          std::uint32_t& guess = recent_->guess(at.rank, at.offset);
          if (begin + guess >= end || begin[guess] != at.offset) {
            guess = static_cast<std::uint32_t>(end - begin);
            *cursors.take(at.rank) = static_cast<Offset>(at.offset);
          }
          answers[i - first] = guess;
        },
        answers_.size());
  }

  template <class Offset>
  [[gnu::noinline]] void answer() {  // once per round: not in each of the loops that ask
    const T* const mine = table_.local().data();
    exstack::lane* const lanes = stack_.lanes();
    for (int peer = 0; peer < table_.team().size(); ++peer) {
      const std::span<const Offset> offsets = stack_.arrived<Offset>(peer);
      T* const values = reinterpret_cast<T*>(lanes[peer].next);
      for (std::size_t k = 0; k < offsets.size(); ++k) values[k] = mine[offsets[k]];
      lanes[peer].next += offsets.size() * sizeof(T);
    }
  }

  template <class Locate>
  void place(Locate locate, const std::int64_t* indices, T* out, std::size_t begin,
             std::size_t end) {
    const int ranks = table_.team().size();
    auto& next = filler_.pointers();
    // Read only; cursors that write and those that read are the same.
    for (int peer = 0; peer < ranks; ++peer)
      next[peer] = const_cast<std::byte*>(
          reinterpret_cast<const std::byte*>(stack_.arrived<T>(peer).data()));
    const auto rank_of = [=](std::size_t i) {
      return locate(static_cast<std::uint64_t>(indices[i])).rank;
    };
    if (recent_) {
      for (std::size_t i = begin; i < end; ++i)
        out[i] = reinterpret_cast<const T*>(next[rank_of(i)])[answers_[i - begin]];
      return;
    }
    with_cursors<T>(next.data(), ranks, buffer_items_, [&](auto cursors) {
      for (std::size_t i = begin; i < end; ++i) out[i] = *cursors.take(rank_of(i));
    });
  }

  const table_parts<T, Distribution>& table_;
  std::size_t buffer_items_;
  exstack stack_;
  exstack_filler filler_;
  exchange_report report_;
  std::optional<recent_items> recent_;
  // of the indices of a round, with recent_: which of its rank's answers each gets
  std::vector<std::uint32_t> answers_;
};

}  // namespace longshore::detail

// gather in rounds of questions and answers over exstack: offsets go out, values come back in the same order, and the own
// indices are walked a second time to put each value where it belongs, so that neither needs a tag (bale's ig_exstack does the
// same).
#pragma once

#include <longshore/aggregate/exstack.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/gather/cursors.hpp>
#include <longshore/gather/index_range.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace longshore::gathering {

/// The buffers of one table's exchanges, kept between uses.
/// Cost of n requests per rank, evenly spread over P ranks with buffers of b items: some n / (P b) rounds of 2 P messages, of
/// up to 4 b (8 b where a part has more than 2^32 elements) and sizeof(T) b bytes. Memory per rank: 2 P b max(sizeof(T), 4 or
/// 8), twice that towards other nodes.
template <trivially_copyable T, distribution Distribution>
class exstack_gather {
 public:
  /// Collective. REQUIRES: buffer_items > 0, the same on all ranks.
  exstack_gather(const dist_array<T, Distribution>& table, std::size_t buffer_items)
      : table_(table),
        buffer_items_(buffer_items),
        narrow_(table.map().largest_local_size() <= std::numeric_limits<std::uint32_t>::max()),
        stack_(table.team(), buffer_items * std::max(sizeof(T), narrow_ ? sizeof(std::uint32_t) : sizeof(std::uint64_t))),
        next_(static_cast<std::size_t>(table.team().size())) {}

  /// Collective. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`.
  /// Throws errc::usage for an index out of range, and errc::peer_failed on the other ranks; the object can be used again
  /// after both.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    table_.map().with_locator([&](auto locate) {
      if (narrow_)
        run<std::uint32_t>(locate, indices, out);
      else
        run<std::uint64_t>(locate, indices, out);
    });
  }

  /// Collective with operator() of the other ranks: tells them that this rank cannot take part.
  void refuse() { stack_.exchange(progress::failed); }

  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }

 private:
  template <class Offset, class Locate>
  void run(Locate locate, std::span<const std::int64_t> indices, std::span<T> out) {
    std::size_t answered = 0;
    progress all = progress::more;
    while (all == progress::more) {
      const std::size_t asked = ask<Offset>(locate, indices, answered);
      if (asked == refused) {
        refuse();
        refuse_indices(indices, table_.size(), table_.team().rank());
      }
      all = stack_.exchange(asked == indices.size() ? progress::done : progress::more);
      if (all == progress::failed)
        fail(errc::peer_failed, "gather on rank {} was given up: rank {} has indices or an output that cannot be used",
             table_.team().rank(), stack_.failed_rank());
      answer<Offset>();
      stack_.exchange(all);
      place(locate, indices.data(), out.data(), answered, asked);
      answered = asked;
    }
  }

  static constexpr std::size_t refused = std::numeric_limits<std::size_t>::max();

  static constexpr std::size_t prefetch_items = 2048;  // some rounds' worth would do no harm: it is 16 KiB

  // Pushes indices from `first` until a buffer is full. Returns where it stopped, or `refused` before an index out of range.
  template <class Offset, class Locate>
  std::size_t ask(Locate locate, std::span<const std::int64_t> indices, std::size_t first) {
    exstack::lane* const lanes = stack_.lanes();
    const int ranks = table_.team().size();
    for (int peer = 0; peer < ranks; ++peer) next_[peer] = lanes[peer].next;
    return with_cursors<Offset>(next_.data(), ranks, buffer_items_, [&](auto cursors) {
      const std::size_t end = push(locate, indices, first, cursors);
      if (end != refused)
        for (int peer = 0; peer < ranks; ++peer) lanes[peer].next = cursors.next(peer);
      return end;
    });
  }

  template <class Offset, class Locate, template <class> class Cursors>
  std::size_t push(Locate locate, std::span<const std::int64_t> indices, std::size_t first, Cursors<Offset>& cursors) {
    const exstack::lane* const lanes = stack_.lanes();  // where the buffers begin; the cursors are ahead of them
    const int ranks = table_.team().size();
    const auto places_left = [&](int peer) {
      return buffer_items_ - static_cast<std::size_t>(cursors.next(peer) - lanes[peer].next) / sizeof(Offset);
    };
    const auto few_places = static_cast<std::size_t>(std::max(32, ranks));
    std::size_t i = first;
    while (i < indices.size()) {
      std::size_t places = buffer_items_;
      for (int peer = 0; peer < ranks; ++peer) places = std::min(places, places_left(peer));
      if (places < few_places) break;
      // So many fit whatever their destinations are: no check of the buffers.
      const auto stretch = indices.subspan(i, std::min(indices.size() - i, places));
      Cursors<Offset> ahead = cursors;  // a copy, so that it lives in registers
      const std::size_t done = for_each_in_range<prefetch_items>(stretch, table_.size(), [&](std::size_t, std::uint64_t index) {
        const location at = locate(index);
        *ahead.take(at.rank) = static_cast<Offset>(at.offset);
      });
      cursors = ahead;
      if (done < stretch.size()) return refused;
      i += done;
    }
    for (; i < indices.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      if (index >= table_.size()) return refused;
      const location at = locate(index);
      if (places_left(at.rank) == 0) break;
      *cursors.take(at.rank) = static_cast<Offset>(at.offset);
    }
    return i;
  }

  template <class Offset>
  void answer() {
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
  void place(Locate locate, const std::int64_t* indices, T* out, std::size_t begin, std::size_t end) {
    const int ranks = table_.team().size();
    // Read only; cursors that write and those that read are the same.
    for (int peer = 0; peer < ranks; ++peer)
      next_[peer] = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(stack_.arrived<T>(peer).data()));
    with_cursors<T>(next_.data(), ranks, buffer_items_, [&](auto cursors) {
      for (std::size_t i = begin; i < end; ++i) out[i] = *cursors.take(locate(static_cast<std::uint64_t>(indices[i])).rank);
    });
  }

  const dist_array<T, Distribution>& table_;
  std::size_t buffer_items_;
  bool narrow_;  // offsets fit into 32 bits
  exstack stack_;
  std::vector<std::byte*> next_;  // by rank: where its next question or answer lies
};

}  // namespace longshore::gathering

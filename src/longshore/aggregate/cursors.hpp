// The place of the next item of each rank, in loops that meet the ranks in random order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longshore {

/// One pointer per rank, in memory. Two items of one rank in a row wait for each other: a store, a
/// load and an addition.
template <class Item>
class array_cursors {
 public:
  /// `next[rank]`: where the items of a rank begin. The array is worked on.
  explicit array_cursors(std::byte** next) noexcept : next_(next) {}
  [[nodiscard]] Item* take(int rank) noexcept {
    Item* const place = reinterpret_cast<Item*>(next_[rank]);
    next_[rank] += sizeof(Item);
    return place;
  }
  [[nodiscard]] std::byte* next(int rank) const noexcept { return next_[rank]; }

 private:
  std::byte** next_;
};

/// The same for few ranks and buffers: all counts in one register, so that the next item waits for
/// one addition only. (With 2 ranks and cursors in memory this wait was most of the time of an
/// aggregated gather.) `Bits` of each count: 64 / Bits ranks.
template <class Item, int Bits = 16>
class packed_cursors {
 public:
  static constexpr int most_ranks = 64 / Bits;
  static constexpr std::size_t most_items = (std::size_t{1} << Bits) - 1;  // per rank

  explicit packed_cursors(std::byte* const* begin) noexcept : begin_(begin) {}
  [[nodiscard]] Item* take(int rank) noexcept {
    Item* const place = reinterpret_cast<Item*>(next(rank));
    counts_ += std::uint64_t{1} << (Bits * rank);
    return place;
  }
  /// How many were taken.
  [[nodiscard]] std::size_t taken(int rank) const noexcept {
    return (counts_ >> (Bits * rank)) & most_items;
  }
  [[nodiscard]] std::byte* next(int rank) const noexcept {
    return begin_[rank] + taken(rank) * sizeof(Item);
  }

 private:
  std::byte* const* begin_;
  std::uint64_t counts_ = 0;  // Bits per rank
};

/// Calls body(cursors) with the better kind. `begin[rank]`: where the items of a rank begin; up to
/// `items` of them are taken.
template <class Item, class Body>
decltype(auto) with_cursors(std::byte** begin, int ranks, std::size_t items, Body&& body) {
  if (ranks <= packed_cursors<Item>::most_ranks && items <= packed_cursors<Item>::most_items)
    return body(packed_cursors<Item>(begin));
  return body(array_cursors<Item>(begin));
}

}  // namespace longshore

// Cursors for loops that append items to the buffers of several ranks in random order: where the
// next item of each rank goes. For the loops of this library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longshore::detail {

/// One pointer per rank, in memory. Consecutive items of one rank depend on each other through a
/// store, a load and an addition.
template <class Item>
class array_cursors {
 public:
  /// `next[rank]`: where the items of a rank begin. The cursors change this array.
  explicit array_cursors(std::byte** next) noexcept : next_(next) {}
  /// The place for the next item of `rank`.
  [[nodiscard]] Item* take(int rank) noexcept {
    Item* const place = reinterpret_cast<Item*>(next_[rank]);
    next_[rank] += sizeof(Item);
    return place;
  }
  [[nodiscard]] std::byte* next(int rank) const noexcept { return next_[rank]; }

 private:
  std::byte** next_;
};

/// The same for few ranks and small buffers, with all counts in one register: the next item depends
/// on one addition only. (With 2 ranks, the dependency through memory was most of the time of an
/// aggregated gather.) Each count has `Bits` bits, so there can be 64 / Bits ranks.
template <class Item, int Bits = 16>
class packed_cursors {
 public:
  static constexpr int max_ranks = 64 / Bits;
  static constexpr std::size_t max_items = (std::size_t{1} << Bits) - 1;  // per rank

  explicit packed_cursors(std::byte* const* begin) noexcept : begin_(begin) {}
  [[nodiscard]] Item* take(int rank) noexcept {
    Item* const place = reinterpret_cast<Item*>(next(rank));
    counts_ += std::uint64_t{1} << (Bits * rank);
    return place;
  }
  /// How many places of `rank` were taken.
  [[nodiscard]] std::size_t taken(int rank) const noexcept {
    return (counts_ >> (Bits * rank)) & max_items;
  }
  [[nodiscard]] std::byte* next(int rank) const noexcept {
    return begin_[rank] + taken(rank) * sizeof(Item);
  }

 private:
  std::byte* const* begin_;
  std::uint64_t counts_ = 0;  // Bits per rank
};

/// Calls body(cursors) with the faster kind. `begin[rank]`: where the items of a rank begin; the
/// body takes up to `items` places of each rank.
template <class Item, class Body>
decltype(auto) with_cursors(std::byte** begin, int ranks, std::size_t items, Body&& body) {
  if (ranks <= packed_cursors<Item>::max_ranks && items <= packed_cursors<Item>::max_items)
    return body(packed_cursors<Item>(begin));
  return body(array_cursors<Item>(begin));
}

}  // namespace longshore::detail

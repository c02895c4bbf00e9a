// Cursors for loops that append items to the buffers of several ranks in random order. A cursor is
// the address for the next item of one rank.
#pragma once

#include <longshore/core/bytes.hpp>

#include <cstddef>
#include <cstdint>

namespace longshore::detail {

/// What a loop does with the items at its cursors.
enum class cursor_use { read, write };

/// One cursor per rank, stored in memory. An item depends on the item before it for the same rank
/// through a store, a load and an addition. There are many cursors, so their cache lines are rarely
/// in the nearest cache: take() fetches the line after the item (measured with 64 ranks: up to 1.4
/// times as fast).
template <class Item, cursor_use Use>
class array_cursors {
 public:
  /// next[rank]: the address for the first item of `rank`. take() changes this array.
  explicit array_cursors(std::byte** next) noexcept : next_(next) {}
  /// Returns the address for the next item of `rank`, and advances the cursor.
  [[nodiscard]] Item* take(int rank) noexcept {
    std::byte* const item = next_[rank];
    __builtin_prefetch(item + cache_line_bytes, Use == cursor_use::write ? 1 : 0);
    next_[rank] = item + sizeof(Item);
    return reinterpret_cast<Item*>(item);
  }
  [[nodiscard]] std::byte* next(int rank) const noexcept { return next_[rank]; }

 private:
  std::byte** next_;
};

/// Cursors for few ranks and small buffers: one register holds the number of items of every rank,
/// so the next item depends on one addition only. (With 2 ranks, the dependency through memory took
/// most of the time of an aggregated gather.) Each number has `Bits` bits, for up to 64 / Bits
/// ranks.
template <class Item, int Bits = 16>
class packed_cursors {
 public:
  static constexpr int max_ranks = 64 / Bits;
  static constexpr std::size_t max_items = (std::size_t{1} << Bits) - 1;  // per rank

  explicit packed_cursors(std::byte* const* begin) noexcept : begin_(begin) {}
  [[nodiscard]] Item* take(int rank) noexcept {
    Item* const item = reinterpret_cast<Item*>(next(rank));
    counts_ += std::uint64_t{1} << (Bits * rank);
    return item;
  }
  /// How often take(rank) was called.
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

/// Calls body(cursors) with the faster kind of cursors. begin[rank]: the address for the first item
/// of `rank`. `items`: how often the body may call take() for each rank.
template <class Item, cursor_use Use, class Body>
decltype(auto) with_cursors(std::byte** begin, int ranks, std::size_t items, Body&& body) {
  if (ranks <= packed_cursors<Item>::max_ranks && items <= packed_cursors<Item>::max_items)
    return body(packed_cursors<Item>(begin));
  return body(array_cursors<Item, Use>(begin));
}

}  // namespace longshore::detail

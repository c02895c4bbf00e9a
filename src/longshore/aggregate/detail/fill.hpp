// Many items pushed in one go, at the speed of memory: what the run-to-end forms do instead of one
// push after the other.
#pragma once

#include <longshore/aggregate/cursors.hpp>
#include <longshore/aggregate/detail/store_item.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace longshore {

/// An item and where it shall go.
template <class Item>
struct addressed {
  int rank;
  Item item;
};

namespace detail {

/// An engine with one buffer per rank that can be written in place: lane_to(rank) gives it (next ==
/// end while there is none), and settle(rank) says that items were appended at `next`.
template <class Engine>
concept has_rank_lanes = requires(Engine& engine, int rank) {
  { engine.has_rank_lanes() } -> std::same_as<bool>;
  engine.lane_to(rank).next;
  engine.settle(rank);
};

/// Items that are made together, before any of them is written: their loads need not wait for
/// stores.
inline constexpr std::size_t item_group = 8;

/// A function object for a loop: a small one by value, so that what it holds can live in registers,
/// whatever the loop writes.
template <class F>
using in_loop = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, F&>;

/// Stretches: items for few ranks that fit whatever their ranks are. No check, and all counts in
/// one register.
template <class Item, has_rank_lanes Engine>
struct stretch {
  using cursors = packed_cursors<Item, 8>;  // up to 8 ranks, 255 items
  static constexpr int most_ranks = cursors::most_ranks;
  static constexpr std::size_t least_items = 32;  // less is not worth the beginning and the end

  /// How many items fit whatever their ranks are, at most `wanted`; 0 when it is less than worth
  /// while, or with too many ranks.
  [[nodiscard]] static std::size_t room(Engine& engine, int ranks, std::size_t wanted) {
    if (ranks > cursors::most_ranks || !engine.has_rank_lanes()) return 0;
    std::size_t items = std::min(wanted, cursors::most_items);
    for (int rank = 0; rank < ranks && items >= least_items; ++rank) {
      const auto& to = engine.lane_to(rank);
      items = std::min(items, static_cast<std::size_t>(to.end - to.next) / sizeof(Item));
    }
    return items < least_items ? 0 : items;
  }

  /// Appends item_of(i), each an addressed<Item>, for i from `position` until `end`, calls
  /// appended(rank, k, i), k counting the items of the rank, for each; then counted(rank, items)
  /// for each rank. When item_of throws, `position` says how many were appended before. REQUIRES:
  /// end - position <= room().
  template <class ItemOf, class Appended, class Counted>
  static void run(Engine& engine, int ranks, std::size_t& position, std::size_t end,
                  ItemOf& item_of, Appended appended, Counted counted) {
    in_loop<ItemOf> make = item_of;
    std::array<std::byte*, cursors::most_ranks> begin{};
    for (int rank = 0; rank < ranks; ++rank) begin[rank] = engine.lane_to(rank).next;
    cursors next(begin.data());
    const auto append = [&next, &appended](const addressed<Item>& one, std::size_t i) {
      appended(one.rank, next.taken(one.rank), i);
      store_item(reinterpret_cast<std::byte*>(next.take(one.rank)), one.item);
    };
    std::size_t i = position;
    try {
      for (; i + item_group <= end; i += item_group) {
        addressed<Item> made[item_group];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < item_group; ++k) made[k] = make(i + k);
#pragma GCC unroll 8
        for (std::size_t k = 0; k < item_group; ++k) append(made[k], i + k);
      }
      for (; i < end; ++i) append(make(i), i);
    } catch (...) {
      position = i;
      commit(engine, ranks, begin, next, counted);
      throw;
    }
    position = i;
    commit(engine, ranks, begin, next, counted);
  }

 private:
  template <class Counted>
  [[gnu::noinline]] static void commit(Engine& engine, int ranks,
                                       const std::array<std::byte*, cursors::most_ranks>& begin,
                                       cursors next, Counted& counted) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::byte* const end = next.next(rank);
      if (end == begin[rank]) continue;
      counted(rank, static_cast<std::size_t>(end - begin[rank]) / sizeof(Item));
      engine.lane_to(rank).next = end;
      engine.settle(rank);
    }
  }
};

/// Items that were made together and are not pushed yet.
template <class Item>
struct made_items {
  std::array<addressed<Item>, item_group> items;
  std::size_t next = 0, count = 0;
  [[nodiscard]] bool none() const noexcept { return next == count; }

  /// Makes the next ones, from the i-th on, at most `most`. REQUIRES: none().
  template <class ItemOf>
  void make(ItemOf& item_of, std::size_t i, std::size_t most) {
    next = count = 0;
    if (most >= item_group) {
#pragma GCC unroll 8
      for (std::size_t k = 0; k < item_group; ++k) items[k] = item_of(i + k);
      count = item_group;
    } else {
      for (std::size_t k = 0; k < most; ++k) items[k] = item_of(i + k);
      count = most;
    }
  }

  /// Pushes them, until an engine has no room; says whether all have gone. Adds what went to
  /// `pushed`.
  template <class Engine>
  bool push_to(Engine& engine, std::size_t& pushed) {
    for (; !none(); ++next, ++pushed)
      if (!engine.push(items[next].rank, items[next].item)) return false;
    return true;
  }
};

/// Pushes item_of(i), each an addressed<Item>, for i from `first` until `end` or until an engine
/// has no room. Returns the i of the first that was not pushed; what item_of made from there on is
/// in `made`, which is the same in all calls of one use: so item_of is called once for each i, in
/// order. An exception of item_of passes through.
template <class Item, class Engine, class ItemOf>
std::size_t push_many(Engine& engine, std::size_t first, std::size_t end, ItemOf& item_of,
                      made_items<Item>& made) {
  std::size_t i = first, next_stretch = first;
  while (i < end) {
    if (made.none()) {
      if constexpr (has_rank_lanes<Engine>) {
        if (i >= next_stretch) {
          const int ranks = engine.ranks().size();
          if (const std::size_t room = stretch<Item, Engine>::room(engine, ranks, end - i)) {
            stretch<Item, Engine>::run(
                engine, ranks, i, i + room, item_of, [](int, std::size_t, std::size_t) {},
                [](int, std::size_t) {});
            continue;
          }
          next_stretch = i + stretch<Item, Engine>::least_items;
        }
      }
      made.make(item_of, i, end - i);
    }
    if (!made.push_to(engine, i)) return i;
  }
  return i;
}

}  // namespace detail
}  // namespace longshore

// Pushing many items at once. The loops here make items in groups, and write whole batches of items
// into the buffers without a check per item, if the engine and the number of ranks allow it.
#pragma once

#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/item_engine.hpp>
#include <longshore/aggregate/rank_cursors.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace longshore {

namespace detail {

/// An engine that may have one buffer per rank, which loops write in place.
template <class Engine>
concept has_rank_buffers = requires(Engine& engine, int rank) {
  engine_access::buffer_to(engine, rank).next;
};

/// How many items are made before the first of them is written, so that the loads of the next items
/// overlap and do not wait behind the stores.
inline constexpr std::size_t group_items = 8;

/// The type of a function object inside a loop: a small one is copied, so that its members can stay
/// in registers whatever the loop stores.
template <class F>
using loop_copy = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, F&>;

/// Writes batches of items for few ranks. A batch is so small that all its items fit the buffer of
/// any one rank; so no item needs a check, and one register holds all counts.
template <class Item, has_rank_buffers Engine>
struct item_batch_writer {
  using cursors = packed_cursors<Item, 8>;  // up to 8 ranks, 255 items
  static constexpr int max_ranks = cursors::max_ranks;
  static constexpr std::size_t min_items = 32;  // a smaller batch costs more than it saves

  /// The size of the next batch, at most `wanted`; 0 if a batch would be too small or there are too
  /// many ranks.
  [[nodiscard]] static std::size_t batch_size(Engine& engine, int ranks, std::size_t wanted) {
    if (ranks > cursors::max_ranks || !engine_access::has_rank_buffers(engine)) return 0;
    std::size_t items = std::min(wanted, cursors::max_items);
    for (int rank = 0; rank < ranks && items >= min_items; ++rank) {
      const auto& to = engine_access::buffer_to(engine, rank);
      items = std::min(items, static_cast<std::size_t>(to.end - to.next) / sizeof(Item));
    }
    return items < min_items ? 0 : items;
  }

  /// Appends item_of(i), an addressed<Item>, for i from `position` to `end` - 1. Calls
  /// appended(rank, k, i) for each item, the k-th to that rank in this batch, and then
  /// counted(rank, items) for each rank. If item_of throws, `position` becomes the index of the
  /// first item that was not appended. REQUIRES: end - position <= batch_size().
  template <class ItemOf, class Appended, class Counted>
  static void write(Engine& engine, int ranks, std::size_t& position, std::size_t end,
                    ItemOf& item_of, Appended appended, Counted counted) {
    loop_copy<ItemOf> make = item_of;
    std::array<std::byte*, cursors::max_ranks> begin{};
    for (int rank = 0; rank < ranks; ++rank)
      begin[rank] = engine_access::buffer_to(engine, rank).next;
    cursors next(begin.data());
    const auto append = [&next, &appended](const addressed<Item>& one, std::size_t i) {
      appended(one.rank, next.taken(one.rank), i);
      store_item(reinterpret_cast<std::byte*>(next.take(one.rank)), one.item);
    };
    std::size_t i = position;
    try {
      for (; i + group_items <= end; i += group_items) {
        addressed<Item> made[group_items];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < group_items; ++k) made[k] = make(i + k);
#pragma GCC unroll 8
        for (std::size_t k = 0; k < group_items; ++k) append(made[k], i + k);
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
                                       const std::array<std::byte*, cursors::max_ranks>& begin,
                                       cursors next, Counted& counted) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::byte* const end = next.next(rank);
      if (end == begin[rank]) continue;
      counted(rank, static_cast<std::size_t>(end - begin[rank]) / sizeof(Item));
      engine_access::buffer_to(engine, rank).next = end;
      engine_access::appended_to(engine, rank);
    }
  }
};

/// A group of items that were made and are not pushed yet.
template <class Item>
struct pending_items {
  std::array<addressed<Item>, group_items> items;
  std::size_t next = 0, count = 0;
  [[nodiscard]] bool empty() const noexcept { return next == count; }

  /// Makes the next group, from item i on, at most `most` items. REQUIRES: empty().
  template <class ItemOf>
  void make(ItemOf& item_of, std::size_t i, std::size_t most) {
    next = count = 0;
    if (most >= group_items) {
#pragma GCC unroll 8
      for (std::size_t k = 0; k < group_items; ++k) items[k] = item_of(i + k);
      count = group_items;
    } else {
      for (std::size_t k = 0; k < most; ++k) items[k] = item_of(i + k);
      count = most;
    }
  }

  /// Pushes the items until the engine refuses one. Returns whether all were pushed, and adds their
  /// number to `pushed`.
  template <class Engine>
  bool push_to(Engine& engine, std::size_t& pushed) {
    for (; !empty(); ++next, ++pushed)
      if (!engine.push(items[next].rank, items[next].item)) return false;
    return true;
  }
};

/// Pushes item_of(i), an addressed<Item>, for i from `first` to `end` - 1, until the engine refuses
/// one. Returns the index of the first item that was not pushed. item_of is called once for each i,
/// in order: `made` keeps items that were made and not pushed, so all calls of one use must pass
/// the same object. An exception of item_of passes through.
template <class Item, class Engine, class ItemOf>
std::size_t push_many(Engine& engine, std::size_t first, std::size_t end, ItemOf& item_of,
                      pending_items<Item>& made) {
  std::size_t i = first, next_batch = first;
  while (i < end) {
    if (made.empty()) {
      if constexpr (has_rank_buffers<Engine>) {
        if (i >= next_batch) {
          const int ranks = engine.ranks().size();
          if (const std::size_t items =
                  item_batch_writer<Item, Engine>::batch_size(engine, ranks, end - i)) {
            item_batch_writer<Item, Engine>::write(
                engine, ranks, i, i + items, item_of, [](int, std::size_t, std::size_t) {},
                [](int, std::size_t) {});
            continue;
          }
          next_batch = i + item_batch_writer<Item, Engine>::min_items;
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

// push_many: pushes many items at once, for deliver and request_reply. If each rank has a buffer
// and there are few ranks, whole batches of items are written without a check per item.
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

/// A type of engine that may have one buffer per rank, which loops write in place.
/// engine_access::has_rank_buffers(engine) says whether one engine has them.
template <class Engine>
concept may_have_rank_buffers = requires(Engine& engine, int rank) {
  engine_access::buffer_to(engine, rank).next;
};

/// How many items are made before the first of them is written. So the loads that make these items
/// overlap and do not wait behind stores.
inline constexpr std::size_t group_items = 8;

/// The type of a function object inside a loop: a copy if the function object is small, otherwise a
/// reference. Stores of the loop cannot change a copy, so its members can stay in registers.
template <class F>
using loop_copy = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, F&>;

/// Writes batches of items for few ranks. All items of a batch fit the buffer of any single rank,
/// so no item needs a check. One register counts the items of all ranks.
template <class Item, may_have_rank_buffers Engine>
struct item_batch_writer {
  using cursors = packed_cursors<Item, 8>;  // up to 8 ranks, 255 items
  static constexpr int max_ranks = cursors::max_ranks;
  static constexpr std::size_t min_items = 32;  // smaller batches are slower

  /// The size of the next batch, at most `wanted`. 0 if the batch would be too small, or if there
  /// are too many ranks.
  [[nodiscard]] static std::size_t batch_size(Engine& engine, int ranks, std::size_t wanted) {
    if (ranks > cursors::max_ranks || !engine_access::has_rank_buffers(engine)) return 0;
    std::size_t items = std::min(wanted, cursors::max_items);
    for (int rank = 0; rank < ranks && items >= min_items; ++rank) {
      const auto& to = engine_access::buffer_to(engine, rank);
      items = std::min(items, static_cast<std::size_t>(to.end - to.next) / sizeof(Item));
    }
    return items < min_items ? 0 : items;
  }

  /// Appends item_of(i), an addressed<Item>, for all i in [first, end), and sets `first` to `end`.
  /// Calls on_append(rank, k, i) for each item i, which is the k-th item of this batch to `rank`.
  /// Then calls on_commit(rank, items) for each rank that gets items. If item_of throws, `first`
  /// becomes the index of the first item that was not appended. REQUIRES: end - first is at most
  /// batch_size().
  template <class ItemOf, class OnAppend, class OnCommit>
  static void write(Engine& engine, int ranks, std::size_t& first, std::size_t end, ItemOf& item_of,
                    OnAppend on_append, OnCommit on_commit) {
    loop_copy<ItemOf> make_item = item_of;
    std::array<std::byte*, cursors::max_ranks> begin{};
    for (int rank = 0; rank < ranks; ++rank)
      begin[rank] = engine_access::buffer_to(engine, rank).next;
    cursors next(begin.data());
    const auto append = [&next, &on_append](const addressed<Item>& to_rank, std::size_t i) {
      on_append(to_rank.rank, next.taken(to_rank.rank), i);
      store_item(reinterpret_cast<std::byte*>(next.take(to_rank.rank)), to_rank.item);
    };
    std::size_t i = first;
    try {
      for (; i + group_items <= end; i += group_items) {
        addressed<Item> group[group_items];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < group_items; ++k) group[k] = make_item(i + k);
#pragma GCC unroll 8
        for (std::size_t k = 0; k < group_items; ++k) append(group[k], i + k);
      }
      for (; i < end; ++i) append(make_item(i), i);
    } catch (...) {
      first = i;
      commit(engine, ranks, begin, next, on_commit);
      throw;
    }
    first = i;
    commit(engine, ranks, begin, next, on_commit);
  }

 private:
  template <class OnCommit>
  [[gnu::noinline]] static void commit(Engine& engine, int ranks,
                                       const std::array<std::byte*, cursors::max_ranks>& begin,
                                       cursors next, OnCommit& on_commit) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::byte* const end = next.next(rank);
      if (end == begin[rank]) continue;
      on_commit(rank, static_cast<std::size_t>(end - begin[rank]) / sizeof(Item));
      engine_access::buffer_to(engine, rank).next = end;
      engine_access::appended_to(engine, rank);
    }
  }
};

/// Up to 8 items that were made and are not pushed yet.
template <class Item>
struct pending_items {
  std::array<addressed<Item>, group_items> items;
  std::size_t next = 0, count = 0;
  [[nodiscard]] bool empty() const noexcept { return next == count; }

  /// Makes the items item_of(i), item_of(i + 1), ..., at most `max_items`. REQUIRES: empty().
  template <class ItemOf>
  void make(ItemOf& item_of, std::size_t i, std::size_t max_items) {
    next = count = 0;
    if (max_items >= group_items) {
#pragma GCC unroll 8
      for (std::size_t k = 0; k < group_items; ++k) items[k] = item_of(i + k);
      count = group_items;
    } else {
      for (std::size_t k = 0; k < max_items; ++k) items[k] = item_of(i + k);
      count = max_items;
    }
  }

  /// Pushes the items until the engine refuses an item, and adds their number to `pushed`. Returns
  /// whether all items were pushed.
  template <class Engine>
  bool push_to(Engine& engine, std::size_t& pushed) {
    for (; !empty(); ++next, ++pushed)
      if (!engine.push(items[next].rank, items[next].item)) return false;
    return true;
  }
};

/// Pushes item_of(i), an addressed<Item>, for all i in [first, end), until the engine refuses an
/// item. Returns the index of the first item that was not pushed. item_of is called once for each
/// i, in order: `pending` keeps items that were not pushed, so all calls of one epoch must pass the
/// same `pending`. An exception of item_of passes through.
template <class Item, class Engine, class ItemOf>
std::size_t push_many(Engine& engine, std::size_t first, std::size_t end, ItemOf& item_of,
                      pending_items<Item>& pending) {
  std::size_t i = first, next_batch = first;
  while (i < end) {
    if (pending.empty()) {
      if constexpr (may_have_rank_buffers<Engine>) {
        using batch = item_batch_writer<Item, Engine>;
        if (i >= next_batch) {
          const int ranks = engine.ranks().size();
          if (const std::size_t items = batch::batch_size(engine, ranks, end - i)) {
            batch::write(
                engine, ranks, i, i + items, item_of, [](int, std::size_t, std::size_t) {},
                [](int, std::size_t) {});
            continue;
          }
          next_batch = i + batch::min_items;
        }
      }
      pending.make(item_of, i, end - i);
    }
    if (!pending.push_to(engine, i)) return i;
  }
  return i;
}

}  // namespace detail
}  // namespace longshore

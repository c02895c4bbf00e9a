// push_many: pushes many items at once, for deliver and request_reply. If there are few buffers,
// whole batches of items are written without a check per item.
#pragma once

#include <longshore/aggregate/detail/store_item.hpp>
#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/transport/detail/rank_cursors.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace longshore {

namespace detail {

/// A type of engine whose buffers loops write in place: one buffer per rank if
/// engine.has_rank_buffers(), else tagged buffers.
template <class Engine>
concept has_open_buffers = requires(Engine& engine, int rank) {
  engine.buffer_to(rank).next;
};

/// How many items a loop makes before it writes the first of them. So the loads that make these
/// items overlap and do not wait behind stores.
inline constexpr std::size_t group_items = 8;

/// The type of a function object inside a loop: a copy if the function object is small, otherwise a
/// reference. Stores of the loop cannot change a copy, so its members can stay in registers.
template <class F>
using loop_copy = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, F&>;

/// Calls append(item_of(i), i) for all i in [i, end), and advances i. Items are made in groups.
template <class Item, class ItemOf, class Append>
void append_in_groups(std::size_t& i, std::size_t end, ItemOf& item_of, Append&& append) {
  for (; i + group_items <= end; i += group_items) {
    addressed<Item> group[group_items];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < group_items; ++k) group[k] = item_of(i + k);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < group_items; ++k) append(group[k], i + k);
  }
  for (; i < end; ++i) append(item_of(i), i);
}

/// Writes batches of items for up to 256 ranks, or over few links of an engine of several hops. All
/// items of a batch fit any single buffer, so no item needs a check. With few buffers, one register
/// counts the items of all buffers.
template <class Item, has_open_buffers Engine>
struct item_batch_writer {
  using few_cursors = packed_cursors<Item, 8>;  // up to 8 ranks, 255 items
  using many_cursors = array_cursors<Item, cursor_use::write>;
  static constexpr int max_few_ranks = few_cursors::max_ranks, max_ranks = 256;
  static constexpr std::size_t min_items = 32;  // smaller batches are slower

  /// The size of the next batch, at most `wanted`. 0 if the batch would be too small, or if there
  /// are too many buffers.
  [[nodiscard]] static std::size_t batch_size(Engine& engine, int ranks, std::size_t wanted) {
    if (!engine.has_rank_buffers()) return engine.template tagged_batch_size<Item>(wanted);
    if (ranks > max_ranks) return 0;
    // A batch begins and ends with a loop over all ranks.
    const std::size_t min_batch = detail::larger(min_items, static_cast<std::size_t>(ranks));
    std::size_t items =
        ranks <= max_few_ranks ? detail::smaller(wanted, few_cursors::max_items) : wanted;
    for (int rank = 0; rank < ranks && items >= min_batch; ++rank) {
      const auto& to = engine.buffer_to(rank);
      items = detail::smaller(items, static_cast<std::size_t>(to.end - to.next) / sizeof(Item));
    }
    return items < min_batch ? 0 : items;
  }

  /// Appends item_of(i), an addressed<Item>, for all i in [first, end), and sets `first` to `end`.
  /// Calls on_append(rank, k, i) for each item i, and on_commit(rank, items) for groups of items to
  /// one rank that were appended. k counts the items to `rank` since the last on_commit() for it.
  /// If item_of throws, `first` becomes the index of the first item that was not appended.
  /// REQUIRES: end - first is at most batch_size().
  template <class ItemOf, class OnAppend, class OnCommit>
  static void write(Engine& engine, int ranks, std::size_t& first, std::size_t end, ItemOf& item_of,
                    OnAppend on_append, OnCommit on_commit) {
    loop_copy<ItemOf> make_item = item_of;
    if (!engine.has_rank_buffers()) {
      engine.template push_tagged_batch<Item>([&](const auto& push) {
        append_in_groups<Item>(first, end, make_item,
                               [&](const addressed<Item>& to_rank, std::size_t i) {
                                 on_append(to_rank.rank, std::size_t{0}, i);
                                 push(to_rank.rank, to_rank.item);
                                 on_commit(to_rank.rank, std::size_t{1});
                               });
      });
      return;
    }
    if (ranks <= max_few_ranks) {
      std::array<std::byte*, max_few_ranks> begin;
      for (int rank = 0; rank < ranks; ++rank) begin[rank] = engine.buffer_to(rank).next;
      few_cursors next(begin.data());
      write_with(next, engine, std::span<std::byte* const>(begin).first(ranks), first, end,
                 make_item, on_append, on_commit);
    } else {
      std::array<std::byte*, max_ranks> begin, addresses;
      for (int rank = 0; rank < ranks; ++rank)
        begin[rank] = addresses[rank] = engine.buffer_to(rank).next;
      many_cursors next(addresses.data());
      write_with(next, engine, std::span<std::byte* const>(begin).first(ranks), first, end,
                 make_item, on_append, on_commit);
    }
  }

 private:
  // begin[rank]: the address of the first item to `rank`.
  template <class Cursors, class MakeItem, class OnAppend, class OnCommit>
  static void write_with(Cursors& next, Engine& engine, std::span<std::byte* const> begin,
                         std::size_t& first, std::size_t end, MakeItem& make_item,
                         OnAppend& on_append, OnCommit& on_commit) {
    std::size_t i = first;
    try {
      append_in_groups<Item>(
          i, end, make_item,
          [&next, &on_append, begin](const addressed<Item>& to_rank, std::size_t k) {
            on_append(to_rank.rank, taken(next, begin, to_rank.rank), k);
            store_item(reinterpret_cast<std::byte*>(next.take(to_rank.rank)), to_rank.item);
          });
    } catch (...) {
      first = i;
      commit(next, engine, begin, on_commit);
      throw;
    }
    first = i;
    commit(next, engine, begin, on_commit);
  }

  static std::size_t taken(const few_cursors& next, std::span<std::byte* const>,
                           int rank) noexcept {
    return next.taken(rank);
  }
  static std::size_t taken(const many_cursors& next, std::span<std::byte* const> begin,
                           int rank) noexcept {
    return static_cast<std::size_t>(next.next(rank) - begin[rank]) / sizeof(Item);
  }

  template <class Cursors, class OnCommit>
  [[gnu::noinline]] static void commit(Cursors next, Engine& engine,
                                       std::span<std::byte* const> begin, OnCommit& on_commit) {
    for (std::size_t peer = 0; peer < begin.size(); ++peer) {
      const int rank = static_cast<int>(peer);
      std::byte* const end = next.next(rank);
      if (end == begin[peer]) continue;
      on_commit(rank, static_cast<std::size_t>(end - begin[peer]) / sizeof(Item));
      engine.buffer_to(rank).next = end;
      engine.finish_append_to(rank);
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
/// i, in order. `pending` keeps items that were made and not pushed. So all calls of one epoch must
/// pass the same `pending`. An exception of item_of passes through.
template <class Item, class Engine, class ItemOf>
std::size_t push_many(Engine& engine, std::size_t first, std::size_t end, ItemOf& item_of,
                      pending_items<Item>& pending) {
  std::size_t i = first, next_batch = first;
  while (i < end) {
    if (pending.empty()) {
      if constexpr (has_open_buffers<Engine>) {
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

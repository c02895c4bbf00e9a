// The interface that all aggregation engines share, and the type of an item with its destination.
#pragma once

#include <longshore/core/bytes.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace longshore {

/// An item and the rank that it goes to.
template <class Item>
struct addressed {
  int rank;
  Item item;
};

/// An engine that carries items of type Item. All ranks use it together, with one thread per rank:
///
///     bool more = true;
///     while (more) {
///       while (i < n && engine.push(rank_of(i), item(i))) ++i;
///       more = engine.advance(i == n);
///       engine.template drain<Item>([](int source, const Item& item) { ... });
///     }
///     engine.restart();  // before the next use
///
/// A *use* of an engine is one such loop, up to restart().
///
/// - push(rank, item) appends the item to a buffer. It returns false when the buffer is full and no
///   other is free: call advance and drain, then try again. Local and inline; no virtual call, no
///   division, no allocation.
/// - can_push(rank): whether the next push to that rank will succeed. Local.
/// - drain<Item>(f) calls f(source, item) for items that arrived and returns their number, which is
///   bounded per call. `source` is -1 if it is not known. f may push. If f returns a bool, false
///   means that it did not take the item: the next drain offers this item and the following ones of
///   the same peer again.
/// - advance(done) moves messages. `done`: this rank will push no more (with items_create_items: no
///   more unless it receives an item). It returns false once all ranks are done and all items for
///   this rank were drained. Call it until it returns false.
/// - restart() makes an ended engine ready for the next use and allocates nothing. Local.
/// - Items of one pair of ranks arrive in the order of pushing. Each item arrives once.
/// - activity() changes whenever this rank sends or consumes a message. A caller that sees no
///   change may wait.
template <class Engine, class Item>
concept item_engine = trivially_copyable<Item> &&
    requires(Engine& engine, int rank, const Item& item, void (*f)(int, const Item&)) {
  { engine.push(rank, item) } -> std::same_as<bool>;
  { engine.can_push(rank) } -> std::same_as<bool>;
  { engine.template drain<Item>(f) } -> std::same_as<std::size_t>;
  { engine.advance(true) } -> std::same_as<bool>;
  { engine.ended() } -> std::same_as<bool>;
  { engine.activity() } -> std::convertible_to<std::size_t>;
  engine.restart();
};

namespace detail {

/// Calls of an engine that only the loops of this library make. An engine declares them private and
/// this struct its friend.
struct engine_access {
  /// As drain, one message at a time: calls f(source_of, items), which returns how many items it
  /// took. source_of(k) is the source of items[k]; source_of.is_single says whether all items have
  /// the same source.
  template <class Item>
  static std::size_t drain_batches(auto& engine, auto&& f) {
    return engine.template drain_batches<Item>(f);
  }

  /// Whether each rank has a buffer of its own, which a loop can write in place.
  static bool has_rank_buffers(const auto& engine) noexcept { return engine.has_rank_buffers(); }
  /// The buffer to `rank`: append items at `next`, up to `end`. next == end: there is none now.
  template <class Engine>
  static auto buffer_to(Engine& engine, int rank) -> decltype(engine.buffer_to(rank)) {
    return engine.buffer_to(rank);
  }
  /// To be called after items were appended at `next` of the buffer to `rank`.
  static void appended_to(auto& engine, int rank) { engine.appended_to(rank); }

  /// As push, unless an item that waits at position `recent` of the same buffer goes to the same
  /// rank and is_same(const Item&) holds for it. Then merge(Item&) changes that item, and nothing
  /// is appended. Otherwise `recent` becomes the position of the new item. `recent` is a guess and
  /// may have any value.
  template <class Item>
  static bool push_or_merge(auto& engine, int rank, const Item& item, std::uint32_t& recent,
                            auto&& is_same, auto&& merge) {
    return engine.push_or_merge(rank, item, recent, is_same, merge);
  }

  /// Says that this rank cannot push all its items; its last buffers tell the others. Call it
  /// before advance(true). Throws errc::unsupported with items_create_items: such a use ends
  /// without last buffers.
  static void fail_use(auto& engine) { engine.fail_use(); }
  /// After a use and until the end of the next one: the lowest rank that failed it, or -1.
  static int failed_rank(const auto& engine) noexcept { return engine.failed_rank(); }

  /// Adds to the wait times of stats(). `for_slot`: a push was refused; otherwise nothing arrived.
  static void add_wait(auto& engine, double seconds, bool for_slot) noexcept {
    engine.add_wait(seconds, for_slot);
  }
};

}  // namespace detail
}  // namespace longshore

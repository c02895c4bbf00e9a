// The one small interface of all aggregation engines.
#pragma once

#include <longshore/core/bytes.hpp>

#include <concepts>
#include <cstddef>

namespace longshore {

/// An engine that carries items of type Item. A use of it, by one thread per rank, on all ranks:
///
///     bool more = true;
///     while (more) {
///       while (i < n && engine.push(rank_of(i), item(i))) ++i;
///       more = engine.advance(i == n);
///       engine.template drain<Item>([](int source, const Item& item) { ... });
///     }
///     engine.restart();  // before the next use
///
/// - push(rank, item): appends the item to a buffer; false when that is full and none is free:
///   advance, drain and try again. Local, inline, no virtual call, no division, no allocation.
/// - can_push(rank): whether the next push to that rank will be taken. Local.
/// - drain<Item>(f): calls f(source, item) for items that arrived, bounded per call; returns how
///   many. `source` is -1 where it is not known. f may push. When f returns a bool, false means
///   that the item was not taken: it, and what follows from the same peer, comes again at the next
///   drain.
/// - advance(done): moves messages. False once all ranks are done and everything for this rank was
///   drained. `done`: this rank will push no more (with items_create_items: no more unless it
///   receives something). Must be called until it is false.
/// - restart(): makes an ended engine ready for the next use; nothing is allocated. Local.
/// - Items of one pair of ranks arrive in the order of pushing; each arrives once.
/// - activity(): changes whenever a message was sent or consumed here; by it a caller knows when
///   waiting is in order.
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

}  // namespace longshore

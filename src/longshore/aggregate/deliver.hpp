// deliver: sends n items through any engine and calls a function for each item that arrives, until
// all ranks are done.
#pragma once

#include <longshore/aggregate/detail/push_many.hpp>
#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/error.hpp>

#include <exception>
#include <utility>
#include <vector>

namespace longshore {

namespace detail {

/// Like longshore::deliver, but does not throw errc::peer_failed. Returns the lowest rank whose
/// item_of threw, or -1.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
[[nodiscard]] int try_deliver(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  idle_waiter idle(engine);
  pending_items<Item> pending;
  std::size_t pushed = 0;
  std::exception_ptr failure;
  for (bool more = true; more;) {
    const std::size_t pushed_before = pushed;
    try {
      pushed = push_many(engine, pushed, n, item_of, pending);
    } catch (...) {
      engine.fail_epoch();  // throws with items_create_items
      failure = std::current_exception();
      pushed = n = 0;
    }
    const bool done = pushed == n;
    more = engine.advance(done);
    const std::size_t arrived = engine.template drain<Item>(on_item);
    idle.after_iteration(pushed != pushed_before || arrived > 0, !done);
  }
  const int failed_rank = engine.failed_rank();
  engine.restart();
  if (failure) std::rethrow_exception(failure);
  return failed_rank;
}

[[noreturn]] inline void throw_peer_failed(int rank, int failed_rank) {
  fail(errc::peer_failed,
       "rank {}: an exchange of items ended early, because the function that makes the items of "
       "rank {} threw",
       rank, failed_rank);
}

}  // namespace detail

/// Collective. Pushes item_of(0), ..., item_of(n - 1), each an addressed<Item>, and calls
/// on_item(source, item) for each item that arrives. item_of is called once per item, in order.
/// Returns when all ranks are done and all items were delivered; the engine is then ready for the
/// next epoch. on_item may return false for an item that it cannot take now (item_engine.hpp).
/// on_item may push if the engine was made with items_create_items.
///
/// If item_of throws, this rank serves the other ranks to the end of the epoch. Then this rank
/// rethrows the exception, the other ranks throw errc::peer_failed, and the engine can be used
/// again. But with items_create_items, or if on_item throws, the engine can only be destroyed.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
void deliver(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  const int failed_rank = detail::try_deliver<Item>(engine, n, item_of, on_item);
  if (failed_rank >= 0) detail::throw_peer_failed(engine.ranks().rank(), failed_rank);
}

/// Collective. Like deliver, but for items that create items. on_item(source, item, emit) may call
/// emit(rank, item) any number of times. Emitted items that find no free buffer wait on this rank,
/// in order, in memory that grows as needed. REQUIRES: the engine was made with items_create_items.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
void deliver_recursive(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  if (!engine.options().items_create_items)
    fail(errc::usage,
         "deliver_recursive() needs an engine with items_create_items: otherwise a rank that is "
         "done cannot push again");
  idle_waiter idle(engine);
  detail::pending_items<Item> pending;
  std::vector<addressed<Item>> emitted;  // items that found no free buffer
  std::size_t next_emitted = 0, pushed = 0;
  const auto emit = [&](int rank, const Item& item) {
    if (!emitted.empty() || !engine.push(rank, item)) emitted.push_back({rank, item});
  };
  for (bool more = true; more;) {
    bool progressed = false, refused = false;
    while (next_emitted < emitted.size() && !refused) {
      refused = !engine.push(emitted[next_emitted].rank, emitted[next_emitted].item);
      if (!refused) {
        ++next_emitted;
        progressed = true;
      }
    }
    if (next_emitted == emitted.size()) {
      emitted.clear();
      next_emitted = 0;
    }
    if (!refused) {
      const std::size_t pushed_before = pushed;
      pushed = detail::push_many(engine, pushed, n, item_of, pending);
      progressed |= pushed != pushed_before;
      refused = pushed < n;
    }
    more = engine.advance(pushed == n && emitted.empty());
    const std::size_t arrived = engine.template drain<Item>(
        [&](int source, const Item& item) { on_item(source, item, emit); });
    idle.after_iteration(progressed || arrived > 0, refused);
  }
  engine.restart();
}

}  // namespace longshore

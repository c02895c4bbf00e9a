// deliver: sends n items through any engine and calls a function for each item that arrives, until
// all ranks are done.
#pragma once

#include <longshore/aggregate/detail/push_many.hpp>
#include <longshore/aggregate/idle_waiter.hpp>
#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/error.hpp>

#include <exception>
#include <utility>
#include <vector>

namespace longshore {

namespace detail {

/// As longshore::deliver, but where that throws errc::peer_failed, this returns the lowest rank
/// whose item_of threw. Returns -1 if none threw.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
[[nodiscard]] int try_deliver(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  idle_waiter idle(engine);
  pending_items<Item> made;
  std::size_t i = 0;
  std::exception_ptr failure;
  for (bool more = true; more;) {
    const std::size_t before = i;
    try {
      i = push_many(engine, i, n, item_of, made);
    } catch (...) {
      engine_access::fail_use(engine);  // throws with items_create_items
      failure = std::current_exception();
      i = n = 0;
    }
    const bool done = i == n;
    more = engine.advance(done);
    const std::size_t came = engine.template drain<Item>(on_item);
    idle.after_iteration(i != before || came > 0, !done);
  }
  const int failed_rank = engine_access::failed_rank(engine);
  engine.restart();
  if (failure) std::rethrow_exception(failure);
  return failed_rank;
}

[[noreturn]] inline void throw_peer_failed(int rank, int failed_rank) {
  fail(errc::peer_failed,
       "rank {}: an exchange of items ended early, because the function that makes the items of "
       "rank "
       "{} threw",
       rank, failed_rank);
}

}  // namespace detail

/// Collective. Pushes item_of(0), ..., item_of(n - 1), each an addressed<Item>, and calls
/// on_item(source, item) for each item that arrives. item_of is called once per item, in order.
/// Returns when all ranks are done and all items were delivered; the engine is then ready for the
/// next use. on_item may return false for an item that it cannot take now (item_engine.hpp). It may
/// push if the engine was made with items_create_items.
///
/// If item_of throws, this rank serves the others to the end of the use. Then it rethrows the
/// exception, and the other ranks throw errc::peer_failed. The engine can be used again. This does
/// not hold with items_create_items: there the engine can only be destroyed. The same holds after
/// an exception of on_item.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
void deliver(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  const int failed_rank = detail::try_deliver<Item>(engine, n, item_of, on_item);
  if (failed_rank >= 0) detail::throw_peer_failed(engine.ranks().rank(), failed_rank);
}

/// Collective. As deliver, for items that create items: on_item(source, item, emit) may call
/// emit(rank, item) any number of times. Emitted items that find no buffer wait on this rank, in
/// order, in memory that grows as needed. REQUIRES: an engine made with items_create_items.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
void deliver_recursive(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  if (!engine.options().items_create_items)
    fail(errc::usage,
         "deliver_recursive() needs an engine with items_create_items: otherwise a rank that is "
         "done "
         "cannot push again");
  idle_waiter idle(engine);
  detail::pending_items<Item> made;
  std::vector<addressed<Item>> waiting;
  std::size_t first_waiting = 0, i = 0;
  const auto emit = [&](int rank, const Item& item) {
    if (!waiting.empty() || !engine.push(rank, item)) waiting.push_back({rank, item});
  };
  for (bool more = true; more;) {
    bool moved = false, refused = false;
    for (; first_waiting < waiting.size() && !refused; first_waiting += !refused)
      moved |= !(refused = !engine.push(waiting[first_waiting].rank, waiting[first_waiting].item));
    if (first_waiting == waiting.size()) {
      waiting.clear();
      first_waiting = 0;
    }
    if (!refused) {
      const std::size_t before = std::exchange(i, detail::push_many(engine, i, n, item_of, made));
      moved |= i != before;
      refused = i < n;
    }
    more = engine.advance(i == n && waiting.empty());
    const std::size_t came = engine.template drain<Item>(
        [&](int source, const Item& item) { on_item(source, item, emit); });
    idle.after_iteration(moved || came > 0, refused);
  }
  engine.restart();
}

/// @cond Old name, until the next version.
template <class Item, class Engine, class ItemOf, class OnItem>
[[deprecated("use deliver_recursive")]] void spread(Engine& engine, std::size_t n, ItemOf&& item_of,
                                                    OnItem&& on_item) {
  deliver_recursive<Item>(engine, n, item_of, on_item);
}
/// @endcond

}  // namespace longshore

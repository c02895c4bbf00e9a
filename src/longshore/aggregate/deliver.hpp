// The callback form over any engine: n items out, a function for every item that comes in, to the
// end of all ranks.
#pragma once

#include <longshore/aggregate/detail/fill.hpp>
#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace longshore {

namespace detail {

/// Waits between two looks at an engine that has nothing to do, and tells it for how long and why.
template <class Engine>
class idle_time {
 public:
  explicit idle_time(Engine& engine) : engine_(engine), seen_(engine.activity()) {}

  /// After each turn of a loop: `moved` when the caller itself got something done, `refused` when a
  /// push found no buffer.
  void turn(bool moved, bool refused) {
    const std::size_t now = engine_.activity();
    if (moved || now != seen_) {
      if (wait_) {
        engine_.waited(engine_.ranks().now() - began_, refused_);
        wait_.reset();
      }
      seen_ = now;
      return;
    }
    if (!wait_) {
      wait_.emplace(engine_.ranks(), "items of an aggregation engine");
      began_ = engine_.ranks().now();
      refused_ = refused;
    }
    wait_->pause();
  }

 private:
  Engine& engine_;
  std::size_t seen_;
  std::optional<waiter> wait_;
  double began_ = 0;
  bool refused_ = false;
};

}  // namespace detail

namespace detail {

/// As longshore::deliver, which throws where this returns the lowest rank whose item_of threw, or
/// -1 when there is none.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
[[nodiscard]] int deliver_unless_failed(Engine& engine, std::size_t n, ItemOf&& item_of,
                                        OnItem&& on_item) {
  detail::idle_time idle(engine);
  made_items<Item> made;
  std::size_t i = 0;
  std::exception_ptr failure;
  for (bool more = true; more;) {
    const std::size_t before = i;
    try {
      i = push_many(engine, i, n, item_of, made);
    } catch (...) {
      engine.fail_use();  // throws where that is not possible
      failure = std::current_exception();
      i = n = 0;
    }
    const bool done = i == n;
    more = engine.advance(done);
    const std::size_t came = engine.template drain<Item>(on_item);
    idle.turn(i != before || came > 0, !done);
  }
  const int failed_rank = engine.failed_rank();
  engine.restart();
  if (failure) std::rethrow_exception(failure);
  return failed_rank;
}

[[noreturn]] inline void give_up_with(int rank, int failed_rank) {
  fail(errc::peer_failed,
       "rank {}: an exchange of items was given up, because rank {} could not say what it wants to "
       "send",
       rank, failed_rank);
}

}  // namespace detail

/// Collective. Pushes item_of(0), ..., item_of(n - 1), each an addressed<Item>, in this order and
/// once, and calls on_item(source, item) for each that arrives. Returns when all ranks are done and
/// everything was delivered; the engine is then ready for the next use. on_item may push where the
/// engine was made with items_create_items; it may return false for an item that it cannot take now
/// (item_engine.hpp). When item_of throws, the others are served to the end, then the exception is
/// passed on here and errc::peer_failed is thrown there; the engine can be used again, unless it
/// was made with items_create_items. An exception of on_item leaves it to be destroyed only.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
void deliver(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  const int failed_rank = detail::deliver_unless_failed<Item>(engine, n, item_of, on_item);
  if (failed_rank >= 0) detail::give_up_with(engine.ranks().rank(), failed_rank);
}

/// Collective. As deliver, for items that create items: on_item(source, item, emit) may call
/// emit(rank, item) any number of times. What finds no buffer waits in memory of this rank, in
/// order, which grows as needed; all else is as in deliver. REQUIRES: an engine made with
/// items_create_items.
template <class Item, class Engine, class ItemOf, class OnItem>
requires item_engine<Engine, Item>
void spread(Engine& engine, std::size_t n, ItemOf&& item_of, OnItem&& on_item) {
  if (!engine.options().items_create_items)
    fail(errc::usage,
         "spread() needs an engine that was made with items_create_items: without, a rank that is "
         "done cannot push again");
  detail::idle_time idle(engine);
  detail::made_items<Item> made;
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
    idle.turn(moved || came > 0, refused);
  }
  engine.restart();
}

}  // namespace longshore

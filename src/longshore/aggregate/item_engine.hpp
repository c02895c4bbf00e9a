// The interface that all aggregation engines share, and the type of an item with its destination.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/waiter.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace longshore {

/// An item and the rank that it goes to.
template <class Item>
struct addressed {
  int rank;
  Item item;
};

/// An engine that carries items of type Item. All ranks use the engine together, with one thread
/// per rank:
///
///     bool more = true;
///     while (more) {
///       while (i < n && engine.push(rank_of(i), item(i))) ++i;
///       more = engine.advance(i == n);
///       engine.template drain<Item>([](int source, const Item& item) { ... });
///     }
///     engine.restart();  // before the next epoch
///
/// An *epoch* of an engine is one such loop, from the first push to the end.
///
/// - push(rank, item) appends the item to a buffer. It returns false when the buffer is full and no
///   other buffer is free: call advance and drain, then try again. Local and inline; no virtual
///   call, no division, no allocation.
/// - drain<Item>(f) calls f(source, item) for items that arrived and returns their number, which is
///   bounded per call. `source` is -1 if the sender is not known. f may push. If f returns a bool,
///   false means that f did not take the item: the next drain offers this item and the following
///   items of the same peer again.
/// - advance(done) moves messages. `done`: this rank will push no more (with items_create_items: no
///   more unless it receives an item). advance returns false once all ranks are done and all items
///   for this rank were drained. Call advance until it returns false.
/// - restart() makes an ended engine ready for the next epoch and allocates nothing. Local.
/// - Items of one pair of ranks arrive in the order of pushing. Each item arrives once.
/// - activity() changes whenever this rank sends or consumes a message. A caller that sees no
///   change may wait.
template <class Engine, class Item>
concept item_engine = trivially_copyable<Item> &&
    requires(Engine& engine, int rank, const Item& item, void (*f)(int, const Item&)) {
  { engine.push(rank, item) } -> std::same_as<bool>;
  { engine.template drain<Item>(f) } -> std::same_as<std::size_t>;
  { engine.advance(true) } -> std::same_as<bool>;
  { engine.ended() } -> std::same_as<bool>;
  { engine.activity() } -> std::convertible_to<std::size_t>;
  engine.restart();
};

namespace detail {

/// The argument source_of of drain_messages() for a message whose items all come from one rank.
struct single_source {
  static constexpr bool is_single = true;
  int rank;
  int operator()(std::size_t) const noexcept { return rank; }
};

}  // namespace detail

/// Pauses a loop while its engine makes no progress, and records in the engine's stats() how long
/// and why the loop waited.
template <class Engine>
class idle_waiter {
 public:
  explicit idle_waiter(Engine& engine) : engine_(engine), last_activity_(engine.activity()) {}

  /// To be called after each iteration of the loop. `progressed`: the loop pushed or received
  /// items. `refused`: a push found no free buffer.
  void after_iteration(bool progressed, bool refused) {
    const std::size_t activity = engine_.activity();
    if (progressed || activity != last_activity_) {
      if (wait_) {
        engine_.add_wait(engine_.ranks().now() - began_seconds_, refused_);
        wait_.reset();
      }
      last_activity_ = activity;
      return;
    }
    if (!wait_) {
      wait_.emplace(engine_.ranks(), "items of an aggregation engine");
      began_seconds_ = engine_.ranks().now();
      refused_ = refused;
    }
    wait_->pause();
  }

 private:
  Engine& engine_;
  std::size_t last_activity_;
  std::optional<waiter> wait_;
  double began_seconds_ = 0;
  bool refused_ = false;
};

}  // namespace longshore

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

/// The calls of an engine that only loops of this library make. Engines declare these calls private
/// and this struct a friend.
struct engine_access {
  /// Like drain, but passes one message at a time. Calls f(source_of, items), which returns how
  /// many of the items it took. source_of(k) is the source of items[k]. source_of.is_single says
  /// whether all items of the message have the same source.
  template <class Item>
  static std::size_t drain_messages(auto& engine, auto&& f) {
    return engine.template drain_messages<Item>(f);
  }

  /// Whether each rank has its own buffer. If so, loops may call buffer_to and finish_append_to.
  static bool has_rank_buffers(const auto& engine) noexcept { return engine.has_rank_buffers(); }
  /// The buffer to `rank`: append items at `next`, up to `end`. If next == end, no buffer is free.
  template <class Engine>
  static auto buffer_to(Engine& engine, int rank) -> decltype(engine.buffer_to(rank)) {
    return engine.buffer_to(rank);
  }
  /// To be called after items were appended to buffer_to(rank). Sends the buffer if it is full.
  static void finish_append_to(auto& engine, int rank) { engine.finish_append_to(rank); }

  /// For an engine without rank buffers, which has tagged buffers: how many items the next batch
  /// may push, at most `wanted`; 0 if a batch does not pay.
  template <class Item>
  static std::size_t tagged_batch_size(auto& engine, std::size_t wanted) {
    return engine.template tagged_batch_size<Item>(wanted);
  }
  /// Calls append(push), which may call push(rank, item) as often as tagged_batch_size() said.
  /// Items that it has pushed are sent even if it throws.
  template <class Item>
  static void push_tagged_batch(auto& engine, auto&& append) {
    engine.template push_tagged_batch<Item>(append);
  }

  /// Like push, but may merge the item into an earlier one. If the item at position `recent` of the
  /// same buffer goes to the same rank and is_same(const Item&) holds for that item, merge(Item&)
  /// changes that item and nothing is appended. Otherwise `recent` becomes the position of the new
  /// item. On entry `recent` may have any value.
  template <class Item>
  static bool push_or_merge(auto& engine, int rank, const Item& item, std::uint32_t& recent,
                            auto&& is_same, auto&& merge) {
    return engine.push_or_merge(rank, item, recent, is_same, merge);
  }

  /// Lets `engine` use the routes of `other`, an engine of the same team with equal routes.
  template <class Engine>
  static void share_routes(Engine& engine, const Engine& other) noexcept {
    engine.share_routes(other);
  }

  /// Says that this rank can push its other items only after items that it receives. Until the epoch
  /// ends, all ranks on the way of its items send partial buffers while they are idle.
  static void make_epoch_urgent(auto& engine) noexcept { engine.make_epoch_urgent(); }
  /// If this rank sends partial buffers of `other` while idle, lets it do so with those of
  /// `engine`.
  template <class Engine>
  static void ship_when_idle_like(Engine& engine, const Engine& other) noexcept {
    if (other.ships_when_idle()) engine.ship_when_idle();
  }

  /// Says that this rank cannot push all its items; its last buffers tell the other ranks. Call
  /// fail_epoch before advance(true). Throws errc::unsupported with items_create_items, because
  /// such an epoch ends without last buffers.
  static void fail_epoch(auto& engine) { engine.fail_epoch(); }
  /// After an epoch and until the end of the next one: the lowest rank that failed the epoch, or
  /// -1.
  static int failed_rank(const auto& engine) noexcept { return engine.failed_rank(); }

  /// Adds to the wait times of stats(). `for_slot`: the rank waited because a push was refused;
  /// otherwise, because nothing arrived.
  static void add_wait(auto& engine, double seconds, bool for_slot) noexcept {
    engine.add_wait(seconds, for_slot);
  }
};

}  // namespace detail
}  // namespace longshore

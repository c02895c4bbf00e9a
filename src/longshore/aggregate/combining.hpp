// combining: a wrapper around any engine that merges items for the same place while they wait in a
// buffer. For example, several additions to one bin become one addition.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/aggregate/recent_items.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

namespace longshore {

/// How items combine: op.place(item) is the place that an item is for; op.combine(into, more)
/// merges `more` into `into`, an item for the same place. `into` may lie at any address.
template <class Op, class Item>
concept combination = requires(const Op& op, Item& into, const Item& more) {
  { op.place(more) } -> std::convertible_to<std::uint64_t>;
  op.combine(into, more);
};

/// The table for `recent` of combining: as many positions as the buffers of the engine hold items,
/// but no more than stay in a cache near the core.
[[nodiscard]] inline recent_items recent_items_for(const auto& engine) {
  constexpr std::size_t most = std::size_t{1} << 16;
  const auto ranks = static_cast<std::size_t>(engine.ranks().size());
  return {1,
          std::clamp(engine.options().buffer_items, std::size_t{1}, most / std::min(ranks, most)) *
              std::min(ranks, most)};
}
/// @cond Old name, until the next version.
[[deprecated("use recent_items_for")]] [[nodiscard]] inline recent_items remembered_by(
    const auto& engine) {
  return recent_items_for(engine);
}
/// @endcond

/// Satisfies item_engine. push() looks up where the latest item for the same place lies. If that
/// item still waits in the open buffer, push() merges the new item into it and appends nothing.
/// Hence no item is copied twice or waits longer than without combining, and items of a pair stay
/// in the order of their first push. The position is a guess, so some items that could be combined
/// are sent separately. Cost per item: a hash, a load from `recent` and one from the buffer.
/// Memory: that of `recent`.
template <class Engine, class Item, combination<Item> Op>
requires item_engine<Engine, Item>
class combining {
 public:
  /// Local and free of cost. `engine` and `recent` must outlive the object. `recent` is normally
  /// made by recent_items_for(engine); any size works.
  combining(Engine& engine, recent_items& recent, Op op = {})
      : engine_(engine), recent_(recent), op_(std::move(op)) {}

  template <std::same_as<Item> T>
  [[nodiscard]] bool push(int rank, const T& item) {
    const std::uint64_t place = op_.place(item);
    const std::uint64_t place_on_rank = place * static_cast<std::uint64_t>(engine_.ranks().size()) +
                                        static_cast<std::uint64_t>(rank);
    return detail::engine_access::push_or_merge(
        engine_, rank, item, recent_.guess(0, place_on_rank),
        [&](const Item& earlier) { return op_.place(earlier) == place; },
        [&](Item& earlier) {
          op_.combine(earlier, item);
          ++combined_;
        });
  }
  [[nodiscard]] bool can_push(int rank) { return engine_.can_push(rank); }

  template <class T, class F>
  std::size_t drain(F&& f) {
    return engine_.template drain<T>(std::forward<F>(f));
  }
  [[nodiscard]] bool advance(bool done) { return engine_.advance(done); }
  [[nodiscard]] bool ended() const noexcept { return engine_.ended(); }
  void restart() { engine_.restart(); }
  [[nodiscard]] std::size_t activity() const noexcept { return engine_.activity(); }
  [[nodiscard]] auto& ranks() const noexcept { return engine_.ranks(); }
  /// Items that were merged into others since the object was made, instead of being sent.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  friend struct detail::engine_access;
  void fail_use() { detail::engine_access::fail_use(engine_); }
  [[nodiscard]] int failed_rank() const noexcept {
    return detail::engine_access::failed_rank(engine_);
  }
  void add_wait(double seconds, bool for_slot) noexcept {
    detail::engine_access::add_wait(engine_, seconds, for_slot);
  }

  Engine& engine_;
  recent_items& recent_;
  Op op_;
  std::uint64_t combined_ = 0;
};

}  // namespace longshore

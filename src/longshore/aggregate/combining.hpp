// Items for one place are combined while they wait in a buffer: histogram adds become one add. A
// wrapper around any engine.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/aggregate/recent_items.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

namespace longshore {

/// How items combine: what place an item is for, and `into` op= `more` for two items of one place.
/// `into` may lie at any address.
template <class Op, class Item>
concept combination = requires(const Op& op, Item& into, const Item& more) {
  { op.place(more) } -> std::convertible_to<std::uint64_t>;
  op.combine(into, more);
};

/// As many positions as the buffers of an engine hold items, but no more than stay in a cache near
/// the core: for `recent` of combining.
[[nodiscard]] inline recent_items remembered_by(const auto& engine) {
  constexpr std::size_t most = std::size_t{1} << 16;
  const auto ranks = static_cast<std::size_t>(engine.ranks().size());
  return {1,
          std::clamp(engine.options().buffer_items, std::size_t{1}, most / std::min(ranks, most)) *
              std::min(ranks, most)};
}

/// Satisfies item_engine. push() looks where the last item for the same place was put; while that
/// waits in the open buffer, the two become one there, and nothing is appended. So there is no
/// second copy of an item, an item waits no longer than without, and items of a pair stay in the
/// order of their first pushing. What is sought is a guess: some that could be combined are sent
/// one by one. Cost: a hash, a load from `recent` and one from the buffer per item. Memory: that of
/// `recent`.
template <class Engine, class Item, combination<Item> Op>
requires item_engine<Engine, Item>
class combining {
 public:
  /// Local. Both must outlive the object, which costs nothing to make; `recent` is of
  /// remembered_by(engine), or larger or smaller.
  combining(Engine& engine, recent_items& recent, Op op = {})
      : engine_(engine), recent_(recent), op_(std::move(op)) {}

  template <std::same_as<Item> T>
  [[nodiscard]] bool push(int rank, const T& item) {
    const std::uint64_t place = op_.place(item);
    const std::uint64_t ranks_place = place * static_cast<std::uint64_t>(engine_.ranks().size()) +
                                      static_cast<std::uint64_t>(rank);
    return engine_.push_or_merge(
        rank, item, recent_.guess(0, ranks_place),
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
  void fail_use() { engine_.fail_use(); }
  [[nodiscard]] int failed_rank() const noexcept { return engine_.failed_rank(); }
  [[nodiscard]] std::size_t activity() const noexcept { return engine_.activity(); }
  [[nodiscard]] auto& ranks() const noexcept { return engine_.ranks(); }
  void waited(double seconds, bool for_slot) noexcept { engine_.waited(seconds, for_slot); }
  /// Items that were not sent since the object was made, because another took them along.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  Engine& engine_;
  recent_items& recent_;
  Op op_;
  std::uint64_t combined_ = 0;
};

}  // namespace longshore

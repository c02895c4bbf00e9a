// combining: a wrapper around any engine. It merges items with equal keys while they wait in a
// buffer: several additions to one bin become one addition.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace longshore {

/// A direct-mapped table with a position for each destination and key. Keys that share an entry
/// overwrite each other, and entries are never cleared. So a position is a guess, which must be
/// checked against the buffer. Memory: 4 bytes x destinations x (entries rounded up to a power of
/// two).
class recent_items {
 public:
  recent_items(int destinations, std::size_t entries)
      : bits_(static_cast<int>(std::bit_width(entries - 1))),
        positions_(static_cast<std::size_t>(destinations) << bits_) {}

  /// The guessed position of the latest item with `key` for `destination`. The caller checks and
  /// replaces the position.
  [[nodiscard]] std::uint32_t& guess(int destination, std::uint64_t key) noexcept {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4) separates neighbouring keys, and multiples of a
    // power of two.
    const std::uint64_t hash = bits_ == 0 ? 0 : (key * 0x9e3779b97f4a7c15ULL) >> (64 - bits_);
    return positions_[(static_cast<std::size_t>(destination) << bits_) + hash];
  }

 private:
  int bits_;
  std::vector<std::uint32_t> positions_;
};

/// How items combine: op.key(item) is the key of an item, and op.combine(into, more) merges
/// `more` into an item with the same key. `into` lies in a buffer of the engine, which does not align
/// items.
template <class Op, class Item>
concept combination = requires(const Op& op, Item& into, const Item& more) {
  { op.key(more) } -> std::convertible_to<std::uint64_t>;
  op.combine(into, more);
};

/// A table for the argument `recent` of combining: as many positions as the buffers of the engine
/// hold items, but no more than stay in a cache near the core.
[[nodiscard]] inline recent_items recent_items_for(const auto& engine) {
  constexpr std::size_t max_entries = std::size_t{1} << 16;
  const std::size_t buffers =
      detail::smaller(static_cast<std::size_t>(engine.ranks().size()), max_entries);
  return {1, buffers * detail::larger(std::size_t{1}, detail::smaller(engine.options().buffer_items,
                                                                      max_entries / buffers))};
}

/// Satisfies item_engine. push() looks up where the latest item with the same key lies. If that
/// item still waits in the open buffer, push() merges the new item into that item and appends
/// nothing. So no item is copied twice or waits longer than without combining, and items of a pair
/// of ranks stay in the order of their first push. The position is a guess, so some items that
/// could be combined are sent separately. Cost per item: a hash and two loads, from `recent` and
/// from the buffer.
template <class Engine, class Item, combination<Item> Op>
requires item_engine<Engine, Item>
class combining {
 public:
  /// Local. `engine` and `recent` must outlive the object. `recent` is normally made by
  /// recent_items_for(engine), but a table of any size works.
  combining(Engine& engine, recent_items& recent, Op op = {})
      : engine_(engine), recent_(recent), op_(std::move(op)) {}

  template <std::same_as<Item> T>
  [[nodiscard]] bool push(int rank, const T& item) {
    const std::uint64_t key = op_.key(item);
    const std::uint64_t key_on_rank =
        key * static_cast<std::uint64_t>(engine_.ranks().size()) + static_cast<std::uint64_t>(rank);
    return engine_.push_or_merge(
        rank, item, recent_.guess(0, key_on_rank),
        [&](const Item& earlier) { return op_.key(earlier) == key; },
        [&](Item& earlier) {
          op_.combine(earlier, item);
          ++combined_;
        });
  }

  template <class T, class F>
  std::size_t drain(F&& f) {
    return engine_.template drain<T>(std::forward<F>(f));
  }
  [[nodiscard]] bool advance(bool done) { return engine_.advance(done); }
  [[nodiscard]] bool ended() const noexcept { return engine_.ended(); }
  void restart() { engine_.restart(); }
  [[nodiscard]] std::size_t activity() const noexcept { return engine_.activity(); }
  [[nodiscard]] auto& ranks() const noexcept { return engine_.ranks(); }
  void fail_epoch() { engine_.fail_epoch(); }
  [[nodiscard]] int failed_rank() const noexcept { return engine_.failed_rank(); }
  void add_wait(double seconds, bool for_slot) noexcept { engine_.add_wait(seconds, for_slot); }
  /// The number of items that were merged since the object was made.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  Engine& engine_;
  recent_items& recent_;
  Op op_;
  std::uint64_t combined_ = 0;
};

}  // namespace longshore

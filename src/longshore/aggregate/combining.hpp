// Items that mean the same place are combined before they are sent: histogram adds become one add. A wrapper around any engine.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

namespace longshore {

/// How items combine: what place an item is for, and `into` op= `more` for two items of one place.
template <class Op, class Item>
concept combination = requires(const Op& op, Item& into, const Item& more) {
  { op.place(more) } -> std::convertible_to<std::uint64_t>;
  op.combine(into, more);
};

/// Satisfies item_engine. Before the buffer of each destination stands a direct-mapped cache of `entries` items: an item meets the
/// last one of its cache line; they combine when both are for one place, else the older goes into the buffer.
/// Items of one place stay in order among themselves, others of a pair do not: for operations that commute.
/// Memory per rank: ranks x entries x (sizeof(Item) + 1 rounded to its alignment). Items lie in the cache until advance(true), however steady the
/// engine is.
template <class Engine, class Item, combination<Item> Op>
requires item_engine<Engine, Item>
class combining {
 public:
  /// Local. Throws errc::usage unless `entries` is a power of two. The engine must outlive the object.
  combining(Engine& engine, std::size_t entries, Op op = {})
      : engine_(engine),
        op_(std::move(op)),
        entries_(entries),
        cache_(static_cast<std::size_t>(engine.ranks().size()) * entries) {
    if (entries == 0 || (entries & (entries - 1)) != 0)
      fail(errc::usage, "a combining cache of {} entries per destination was asked for; it must be a power of two", entries);
  }

  template <std::same_as<Item> T>
  [[nodiscard]] bool push(int rank, const T& item) {
    entry& meets = cache_[static_cast<std::size_t>(rank) * entries_ + (mix_bits(op_.place(item)) & (entries_ - 1))];
    if (meets.used) {
      if (op_.place(meets.item) == op_.place(item)) {
        op_.combine(meets.item, item);
        ++combined_;
        return true;
      }
      if (!engine_.push(rank, meets.item)) return false;
    }
    meets = {item, true};
    flushed_ = 0;
    return true;
  }
  [[nodiscard]] bool can_push(int rank) { return engine_.can_push(rank); }

  template <class T, class F>
  std::size_t drain(F&& f) {
    return engine_.template drain<T>(std::forward<F>(f));
  }

  [[nodiscard]] bool advance(bool done) {
    for (; done && flushed_ < cache_.size(); ++flushed_) {
      entry& rest = cache_[flushed_];
      if (rest.used && !engine_.push(static_cast<int>(flushed_ / entries_), rest.item)) break;
      rest.used = false;
    }
    return engine_.advance(done && flushed_ == cache_.size());
  }
  [[nodiscard]] bool ended() const noexcept { return engine_.ended(); }
  void restart() {
    engine_.restart();
    flushed_ = 0;
  }
  void fail_use() { engine_.fail_use(); }
  [[nodiscard]] int failed_rank() const noexcept { return engine_.failed_rank(); }
  [[nodiscard]] std::size_t activity() const noexcept { return engine_.activity(); }
  [[nodiscard]] auto& ranks() const noexcept { return engine_.ranks(); }
  void waited(double seconds, bool for_slot) noexcept { engine_.waited(seconds, for_slot); }
  /// Items that were not sent since the object was made, because another took them along.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  struct entry {
    Item item;
    bool used;
  };
  Engine& engine_;
  Op op_;
  std::size_t entries_, flushed_ = 0;
  std::vector<entry> cache_;
  std::uint64_t combined_ = 0;
};

}  // namespace longshore

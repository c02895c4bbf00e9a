// Items that came in one message: whom they are from, and how one at a time is made of a batch at a
// time.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// The source of the items of a batch, when it is the same for all.
struct one_source {
  static constexpr bool is_one = true;
  int rank;
  int operator()(std::size_t) const noexcept { return rank; }
};

/// Drains an engine with drain_batches() item by item: f(source, item), which may return false for
/// an item that it cannot take now.
template <class Item, class Engine, class F>
std::size_t drain_items(Engine& engine, F& f) {
  return engine.template drain_batches<Item>([&f](auto source_of, std::span<const Item> items) {
    std::size_t k = 0;
    if constexpr (std::is_same_v<std::invoke_result_t<F&, int, const Item&>, bool>) {
      while (k < items.size() && f(source_of(k), items[k])) ++k;
    } else {
      for (; k < items.size(); ++k) f(source_of(k), items[k]);
    }
    return k;
  });
}

}  // namespace longshore::detail

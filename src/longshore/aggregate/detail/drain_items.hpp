// drain_items: implements drain() of all engines by drain_batches().
#pragma once

#include <longshore/aggregate/item_engine.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// The argument source_of of drain_batches() for a message whose items all come from one rank.
struct single_source {
  static constexpr bool is_single = true;
  int rank;
  int operator()(std::size_t) const noexcept { return rank; }
};

/// Calls f(source, item) for the items that arrived. f may return false for an item that it does
/// not take.
template <class Item, class Engine, class F>
std::size_t drain_items(Engine& engine, F& f) {
  return engine_access::drain_batches<Item>(
      engine, [&f](auto source_of, std::span<const Item> items) {
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

// Loops over items that request memory from the next cache before they read it. The prefetcher of a
// processor stops at the end of each page and is late for loops with many stores.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <cstddef>

namespace longshore::detail {

/// How far ahead of a loop to request memory that the loop reads.
inline constexpr std::size_t read_ahead_bytes = 2048;

/// Calls body(items[i], lane) for i = 0, 1, ..., count - 1. `lane` is 0, 1, 0, 1, ..., and a
/// constant for the compiler. Meanwhile requests the `count` items that begin at `ahead`, which may
/// be any address.
template <class Item, class Body>
inline void for_each_ahead(const Item* items, std::size_t count, const void* ahead,
                           const Body& body) {
  // The compiler unrolls a step of at most 16 items. The number is even, so each step begins with
  // lane 0.
  constexpr std::size_t step = clamped<std::size_t>(cache_line_bytes / sizeof(Item) / 2 * 2, 2, 16);
  const auto* next = static_cast<const std::byte*>(ahead);
  std::size_t i = 0;
  for (; i + step <= count; i += step, next += step * sizeof(Item)) {
    for (std::size_t byte = 0; byte < step * sizeof(Item); byte += cache_line_bytes)
      __builtin_prefetch(next + byte);
    for (std::size_t k = 0; k < step; ++k) body(items[i + k], k % 2);
  }
  for (std::size_t k = 0; i < count; ++i, ++k) body(items[i], k % 2);
}

/// The same, but requests the items that this loop itself reads soon.
template <class Item, class Body>
inline void for_each_ahead(const Item* items, std::size_t count, const Body& body) {
  for_each_ahead(items, count, reinterpret_cast<const std::byte*>(items) + read_ahead_bytes, body);
}

}  // namespace longshore::detail

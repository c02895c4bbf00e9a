// store_item: how engines copy an item into a buffer.
#pragma once

#include <longshore/core/bytes.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace longshore::detail {

/// Copies `item` in words of the size of its alignment. gcc often builds an item in memory, field
/// by field, just before the item is pushed. A load wider than these fields would wait until the
/// stores have left the core (measured: some 5 ns per item).
template <trivially_copyable Item>
void store_item(std::byte* to, const Item& item) noexcept {
  using word = std::conditional_t<alignof(Item) == 4, std::uint32_t, std::uint64_t>;
  constexpr std::size_t words =
      sizeof(Item) / sizeof(word);  // NOLINT(bugprone-sizeof-expression): items may be pointers
  if constexpr (alignof(Item) >= 4 && words >= 2 && words <= 8) {
    const auto* const from = reinterpret_cast<const std::byte*>(&item);
#pragma GCC unroll 8
    for (std::size_t k = 0; k < words; ++k) {
      word value;
      std::memcpy(&value, from + k * sizeof(word), sizeof(word));
      asm("" : "+r"(value));  // otherwise gcc would copy all words as one vector
      std::memcpy(to + k * sizeof(word), &value, sizeof(word));
    }
  } else {
    std::memcpy(to, &item, sizeof(Item));
  }
}

}  // namespace longshore::detail

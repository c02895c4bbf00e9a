// The operations by which an allreduce combines the values of the ranks.
#pragma once

#include <type_traits>

namespace longshore {

enum class reduction { sum, min, max };

template <class T>
[[nodiscard]] constexpr T combined(T a, T b, reduction operation) noexcept {
  switch (operation) {
    case reduction::sum:
      if constexpr (std::is_integral_v<T>)  // wraps around, also signed numbers
        return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                              static_cast<std::make_unsigned_t<T>>(b));
      else
        return a + b;
    case reduction::min: return b < a ? b : a;
    case reduction::max: return a < b ? b : a;
  }
  return a;
}

}  // namespace longshore

// The operations by which an allreduce combines the values of the ranks.
#pragma once

#include <algorithm>

namespace longshore {

enum class reduction { sum, min, max };

template <class T>
[[nodiscard]] constexpr T combined(T a, T b, reduction operation) noexcept {
  switch (operation) {
    case reduction::sum: return a + b;
    case reduction::min: return std::min(a, b);
    case reduction::max: return std::max(a, b);
  }
  return a;
}

}  // namespace longshore

// The smaller and the larger of two numbers, and limits, for public headers: <algorithm> has much
// else, and each source that includes Longshore would compile it.
#pragma once

#include <type_traits>

namespace longshore::detail {

template <class Number>
[[nodiscard]] constexpr Number smaller(Number a, std::type_identity_t<Number> b) noexcept {
  return b < a ? b : a;
}
template <class Number>
[[nodiscard]] constexpr Number larger(Number a, std::type_identity_t<Number> b) noexcept {
  return a < b ? b : a;
}

/// The number from `lowest` to `highest` that is nearest to `value`. REQUIRES: lowest <= highest.
template <class Number>
[[nodiscard]] constexpr Number clamped(Number value, std::type_identity_t<Number> lowest,
                                       std::type_identity_t<Number> highest) noexcept {
  return smaller(larger(value, lowest), highest);
}

}  // namespace longshore::detail

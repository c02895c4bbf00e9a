// The operations of updates, histograms and accumulated ghosts: functions of an element and a value
// that return the new element. Every operation is associative and commutative. So the order and
// grouping of values do not change the result, except for the rounding of floating-point sums.
#pragma once

#include <longshore/core/bytes.hpp>

#include <concepts>
#include <limits>
#include <string_view>
#include <type_traits>

namespace longshore::op {

/// Sum. Integers wrap around.
struct add {
  [[nodiscard]] static constexpr std::string_view name() noexcept { return "add"; }
  template <class T>
  [[nodiscard]] constexpr T operator()(const T& a, const T& b) const {
    if constexpr (std::integral<T> && !std::same_as<T, bool>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return static_cast<T>(a + b);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] static constexpr T identity() noexcept { return T{}; }
};

struct min {
  [[nodiscard]] static constexpr std::string_view name() noexcept { return "min"; }
  template <class T>
  [[nodiscard]] constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] static constexpr T identity() noexcept {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
};

struct max {
  [[nodiscard]] static constexpr std::string_view name() noexcept { return "max"; }
  template <class T>
  [[nodiscard]] constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] static constexpr T identity() noexcept {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
};

struct bit_xor {
  [[nodiscard]] static constexpr std::string_view name() noexcept { return "bit_xor"; }
  template <class T>
  [[nodiscard]] constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
  template <std::integral T>
  [[nodiscard]] static constexpr T identity() noexcept {
    return T{};
  }
};

struct bit_or {
  [[nodiscard]] static constexpr std::string_view name() noexcept { return "bit_or"; }
  template <class T>
  [[nodiscard]] constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
  template <std::integral T>
  [[nodiscard]] static constexpr T identity() noexcept {
    return T{};
  }
};

struct bit_and {
  [[nodiscard]] static constexpr std::string_view name() noexcept { return "bit_and"; }
  template <class T>
  [[nodiscard]] constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
  template <std::integral T>
  [[nodiscard]] static constexpr T identity() noexcept {
    return static_cast<T>(~T{});
  }
};

}  // namespace longshore::op

namespace longshore {

/// A function of an element and a value that returns the new element, and is associative and
/// commutative. All ranks pass the same operation. The library copies the operation and may call it
/// on any rank.
template <class Op, class T>
concept update_operation = trivially_copyable<T> && std::copyable<Op> &&
    requires(const Op op, const T& element, const T& value) {
  { op(element, value) } -> std::convertible_to<T>;
};

/// An operation with an identity: op.identity<T>() is the value that changes no element. With an
/// identity, a rank can accumulate values before it knows the element. Your own operation may
/// define `template <class T> T identity() const`.
template <class Op, class T>
concept has_identity = update_operation<Op, T> && requires(const Op op) {
  { op.template identity<T>() } -> std::same_as<T>;
};

}  // namespace longshore

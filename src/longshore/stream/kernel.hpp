// The four kernels of STREAM (J. D. McCalpin, "Memory bandwidth and machine balance in current high
// performance computers", IEEE TCCA newsletter, 1995), with the bytes per element that each counts:
//
//     copy   c = a            2 x sizeof(T)          scale  b = q * c        2 x sizeof(T)
//     add    c = a + b        3 x sizeof(T)          triad  a = b + q * c    3 x sizeof(T)
#pragma once

#include <longshore/core/name_lookup.hpp>

#include <cstddef>
#include <type_traits>

namespace longshore {

enum class stream_kernel { copy, scale, add, triad };

template <>
inline constexpr enum_names<4> all_names<stream_kernel> = {"stream kernel",
                                                           {"copy", "scale", "add", "triad"}};

/// Calls body(k), where k() is the kernel as a constant expression.
template <class Body>
constexpr decltype(auto) with_constant_kernel(stream_kernel kernel, const Body& body) {
  using enum stream_kernel;
  switch (kernel) {
    case copy: return body(std::integral_constant<stream_kernel, copy>());
    case scale: return body(std::integral_constant<stream_kernel, scale>());
    case add: return body(std::integral_constant<stream_kernel, add>());
    case triad: break;
  }
  return body(std::integral_constant<stream_kernel, triad>());
}

/// The number of arrays that a kernel reads and writes. Bandwidths count the bytes of these arrays,
/// but not the cache lines that ordinary stores read first.
[[nodiscard]] constexpr std::size_t arrays_touched(stream_kernel kernel) noexcept {
  return kernel == stream_kernel::copy || kernel == stream_kernel::scale ? 2 : 3;
}

/// One element of the result. Kernels with one source ignore y.
template <stream_kernel Kernel, class T>
[[nodiscard]] constexpr T stream_value(T x, [[maybe_unused]] T y,
                                       [[maybe_unused]] T scalar) noexcept {
  if constexpr (Kernel == stream_kernel::copy) return x;
  if constexpr (Kernel == stream_kernel::scale) return scalar * x;
  if constexpr (Kernel == stream_kernel::add) return x + y;
  if constexpr (Kernel == stream_kernel::triad) return x + scalar * y;
}

/// The arrays by their roles: the result, and the sources x and y. With one source, x and y are
/// equal.
template <class Array>
struct stream_operands {
  Array result, x, y;
};
template <class Array>
[[nodiscard]] constexpr stream_operands<Array> operands_of(stream_kernel kernel, Array a, Array b,
                                                           Array c) noexcept {
  switch (kernel) {
    case stream_kernel::copy: return {c, a, a};
    case stream_kernel::scale: return {b, c, c};
    case stream_kernel::add: return {c, a, b};
    case stream_kernel::triad: break;
  }
  return {a, b, c};
}

}  // namespace longshore

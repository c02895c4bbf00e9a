// The four kernels of STREAM (J. D. McCalpin, "Memory bandwidth and machine balance in current high
// performance computers", IEEE TCCA newsletter, 1995), with the bytes per element that each counts:
//
//     copy   c = a            2 x sizeof(T)          scale  b = q * c        2 x sizeof(T)
//     add    c = a + b        3 x sizeof(T)          triad  a = b + q * c    3 x sizeof(T)
//
// A kernel has a loop over contiguous memory. At run time, the loop with the best vector instructions
// of the processor is chosen.
//
// An ordinary store reads a cache line of the result before the line is written. A streaming store
// does not read the line, so triad moves 3 streams instead of 4. But a streaming store evicts the
// line from the caches. Streaming stores pay if the arrays do not fit into the caches.
#pragma once

#include <longshore/core/name_lookup.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

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

/// Ordinary stores go through the caches, streaming (non-temporal) stores bypass the caches.
enum class store_kind { ordinary, streaming };
template <>
inline constexpr enum_names<2> all_names<store_kind> = {"kind of stores",
                                                        {"ordinary", "streaming"}};

enum class instruction_set { portable, avx2, avx512 };
template <>
inline constexpr enum_names<3> all_names<instruction_set> = {"instruction set",
                                                             {"portable", "avx2", "avx512"}};

/// The instruction sets of this processor, the best last. Never empty.
[[nodiscard]] std::vector<instruction_set> instruction_sets();

/// Sets result[i] to the kernel of x[i] and y[i], for i in [0, n). `result` may be x or y, but must
/// not overlap x or y otherwise. Streaming stores are complete (fenced) on return. Any alignment is
/// allowed; arrays aligned to cache lines are fastest.
template <class T>
using stream_loop = void (*)(T* result, const T* x, const T* y, T scalar, std::size_t n);

/// REQUIRES: the processor has `set`. The set portable always uses ordinary stores.
template <class T>
[[nodiscard]] stream_loop<T> find_stream_loop(stream_kernel kernel, store_kind stores,
                                              instruction_set set);
template <class T>
[[nodiscard]] stream_loop<T> find_stream_loop(stream_kernel kernel, store_kind stores) {
  return find_stream_loop<T>(kernel, stores, instruction_sets().back());
}

extern template stream_loop<float> find_stream_loop<float>(stream_kernel, store_kind,
                                                           instruction_set);
extern template stream_loop<double> find_stream_loop<double>(stream_kernel, store_kind,
                                                             instruction_set);

/// The bytes of all last-level caches that `tasks_of_machine` tasks of a machine use together.
[[nodiscard]] std::size_t reached_cache_bytes(int tasks_of_machine);

/// Returns streaming if `bytes` exceeds reached_cache_bytes(tasks_of_machine), else ordinary.
/// `bytes` is what all tasks of the machine together read and write. Near this size, measure with
/// choose_store_kind.
[[nodiscard]] store_kind store_kind_for(std::size_t bytes, int tasks_of_machine);

}  // namespace longshore

// The loop of a kernel, written once for all vector instruction sets. The including file defines
// LONGSHORE_TARGET, the attribute by which a function may use the instruction set, and its vectors
// by LONGSHORE_VECTOR. Everything is in an unnamed namespace, because each including file compiles
// the same names to other instructions.
//
// The loop processes eight vectors per step without software prefetch. This variant was the fastest
// of 2, 4 and 8 vectors, with and without prefetch into any cache, and of 1 to 4 streams per task.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/stream/loop.hpp>

#include <immintrin.h>

#include <cstdint>

#define LONGSHORE_VECTOR_OPERATION [[gnu::always_inline]] LONGSHORE_TARGET static inline

// Defines struct NAME: operations on a vector TYPE of ITEMs by intrinsics PREFIX_operation_SUFFIX.
#define LONGSHORE_VECTOR(NAME, ITEM, TYPE, PREFIX, SUFFIX)                                        \
  struct NAME {                                                                                   \
    using item = ITEM;                                                                            \
    using type = TYPE;                                                                            \
    LONGSHORE_VECTOR_OPERATION type broadcast(item x) { return PREFIX##_set1_##SUFFIX(x); }       \
    LONGSHORE_VECTOR_OPERATION type load(const item* from) {                                      \
      return PREFIX##_loadu_##SUFFIX(from);                                                       \
    }                                                                                             \
    LONGSHORE_VECTOR_OPERATION void store(item* to, type x) { PREFIX##_store_##SUFFIX(to, x); }   \
    LONGSHORE_VECTOR_OPERATION void stream(item* to, type x) { PREFIX##_stream_##SUFFIX(to, x); } \
    LONGSHORE_VECTOR_OPERATION type add(type x, type y) { return PREFIX##_add_##SUFFIX(x, y); }   \
    LONGSHORE_VECTOR_OPERATION type multiply(type x, type y) {                                    \
      return PREFIX##_mul_##SUFFIX(x, y);                                                         \
    }                                                                                             \
    LONGSHORE_VECTOR_OPERATION type multiply_add(type x, type y, type z) {                        \
      return PREFIX##_fmadd_##SUFFIX(x, y, z);                                                    \
    }                                                                                             \
  }

namespace longshore::detail::stream_loops {
namespace {

template <stream_kernel Kernel, class V>
LONGSHORE_VECTOR_OPERATION typename V::type vector_value(const typename V::item* x,
                                                         const typename V::item* y,
                                                         typename V::type scalar) {
  if constexpr (Kernel == stream_kernel::copy) return V::load(x);
  if constexpr (Kernel == stream_kernel::scale) return V::multiply(scalar, V::load(x));
  if constexpr (Kernel == stream_kernel::add) return V::add(V::load(x), V::load(y));
  if constexpr (Kernel == stream_kernel::triad)
    return V::multiply_add(scalar, V::load(y), V::load(x));
}

template <stream_kernel Kernel, bool Streaming, class V, class T = typename V::item>
LONGSHORE_TARGET void vector_loop(T* result, const T* x, const T* y, T scalar, std::size_t n) {
  constexpr std::size_t items = sizeof(typename V::type) / sizeof(T), vectors = 8;
  // Ordinary elements up to a cache line of the result: V::store and V::stream need aligned
  // addresses.
  std::size_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(result + i) % cache_line_bytes != 0; ++i)
    result[i] = stream_value<Kernel>(x[i], y[i], scalar);
  const typename V::type factor = V::broadcast(scalar);
  for (; i + vectors * items <= n; i += vectors * items) {
    typename V::type values[vectors];
    for (std::size_t v = 0; v < vectors; ++v)
      values[v] = vector_value<Kernel, V>(x + i + v * items, y + i + v * items, factor);
    for (std::size_t v = 0; v < vectors; ++v) {
      if constexpr (Streaming)
        V::stream(result + i + v * items, values[v]);
      else
        V::store(result + i + v * items, values[v]);
    }
  }
  for (; i < n; ++i) result[i] = stream_value<Kernel>(x[i], y[i], scalar);
  if constexpr (Streaming) _mm_sfence();
}

template <class V>
stream_loop<typename V::item> find_vector_loop(stream_kernel kernel, store_kind stores) {
  return with_constant_kernel(kernel, [stores](auto k) -> stream_loop<typename V::item> {
    return stores == store_kind::streaming ? &vector_loop<k(), true, V>
                                           : &vector_loop<k(), false, V>;
  });
}

}  // namespace
}  // namespace longshore::detail::stream_loops

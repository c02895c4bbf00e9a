// The loop of a kernel, written once for all vector instruction sets. The including file selects
// the set: it defines the operations of its vectors and LONGSHORE_TARGET, the attribute by which a
// function may use the set. Everything here is in an unnamed namespace, because each including file
// compiles the same names to other instructions.
//
// The loop processes eight vectors per step without software prefetch. This was the fastest of 2, 4
// and 8 vectors, with and without prefetch into any level, and of one to four streams per task.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/stream/loop.hpp>

#include <immintrin.h>

#include <cstdint>

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
  std::size_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(result + i) % cache_line_bytes != 0; ++i)
    result[i] = stream_value<Kernel>(x[i], y[i], scalar);
  const typename V::type factor = V::all(scalar);
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

template <stream_kernel Kernel, class V>
stream_loop<typename V::item> with_stores(store_kind stores) {
  return stores == store_kind::streaming ? &vector_loop<Kernel, true, V>
                                         : &vector_loop<Kernel, false, V>;
}

template <class V>
stream_loop<typename V::item> find_vector_loop(stream_kernel kernel, store_kind stores) {
  switch (kernel) {
    case stream_kernel::copy: return with_stores<stream_kernel::copy, V>(stores);
    case stream_kernel::scale: return with_stores<stream_kernel::scale, V>(stores);
    case stream_kernel::add: return with_stores<stream_kernel::add, V>(stores);
    case stream_kernel::triad: break;
  }
  return with_stores<stream_kernel::triad, V>(stores);
}

}  // namespace
}  // namespace longshore::detail::stream_loops

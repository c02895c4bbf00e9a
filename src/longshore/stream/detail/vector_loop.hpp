// The loop of a kernel, written once for all vector instruction sets. loop.cpp includes this file
// in a namespace for each set. It first defines LONGSHORE_TARGET, the attribute with which a
// function may use the set, and vector_of<T>, the vectors of the set.
//
// The loop processes eight vectors per step without software prefetch. This variant was the fastest
// of 2, 4 and 8 vectors, with and without prefetch into any cache, and of 1 to 4 streams per task.

template <stream_kernel Kernel, class T, class V = vector_of<T>>
LONGSHORE_VECTOR_OPERATION typename V::type vector_value(const T* x, const T* y,
                                                         typename V::type scalar) {
  if constexpr (Kernel == stream_kernel::copy) return V::load(x);
  if constexpr (Kernel == stream_kernel::scale) return V::multiply(scalar, V::load(x));
  if constexpr (Kernel == stream_kernel::add) return V::add(V::load(x), V::load(y));
  if constexpr (Kernel == stream_kernel::triad)
    return V::multiply_add(scalar, V::load(y), V::load(x));
}

template <stream_kernel Kernel, bool Streaming, class T>
LONGSHORE_TARGET void vector_loop(T* result, const T* x, const T* y, T scalar, std::size_t n) {
  using V = vector_of<T>;
  constexpr std::size_t items = sizeof(typename V::type) / sizeof(T), vectors = 8;
  // Single elements up to the next cache line of the result, because V::store and V::stream need
  // aligned addresses.
  std::size_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(result + i) % cache_line_bytes != 0; ++i)
    result[i] = stream_value<Kernel>(x[i], y[i], scalar);
  const typename V::type factor = V::broadcast(scalar);
  for (; i + vectors * items <= n; i += vectors * items) {
    typename V::type values[vectors];
    for (std::size_t v = 0; v < vectors; ++v)
      values[v] = vector_value<Kernel>(x + i + v * items, y + i + v * items, factor);
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

template <class T>
stream_loop<T> find_vector_loop(stream_kernel kernel, store_kind stores) {
  return with_constant_kernel(kernel, [stores](auto k) -> stream_loop<T> {
    return stores == store_kind::streaming ? &vector_loop<k(), true, T>
                                           : &vector_loop<k(), false, T>;
  });
}

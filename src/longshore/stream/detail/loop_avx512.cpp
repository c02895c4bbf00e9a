// AVX-512 loops. Only these functions are compiled for AVX-512, so the rest of the program runs on
// any processor.
#include <longshore/stream/detail/instruction_set_loops.hpp>

#if LONGSHORE_X86_LOOPS

#include <immintrin.h>

#define LONGSHORE_TARGET __attribute__((target("avx512f")))
#define LONGSHORE_VECTOR_OPERATION [[gnu::always_inline]] LONGSHORE_TARGET static inline

namespace longshore::detail::stream_loops {
namespace {

struct double_vector {
  using item = double;
  using type = __m512d;
  LONGSHORE_VECTOR_OPERATION type all(item x) { return _mm512_set1_pd(x); }
  LONGSHORE_VECTOR_OPERATION type load(const item* from) { return _mm512_loadu_pd(from); }
  LONGSHORE_VECTOR_OPERATION void store(item* to, type x) { _mm512_store_pd(to, x); }
  LONGSHORE_VECTOR_OPERATION void stream(item* to, type x) { _mm512_stream_pd(to, x); }
  LONGSHORE_VECTOR_OPERATION type add(type x, type y) { return _mm512_add_pd(x, y); }
  LONGSHORE_VECTOR_OPERATION type multiply(type x, type y) { return _mm512_mul_pd(x, y); }
  LONGSHORE_VECTOR_OPERATION type multiply_add(type x, type y, type z) {
    return _mm512_fmadd_pd(x, y, z);
  }
};

struct float_vector {
  using item = float;
  using type = __m512;
  LONGSHORE_VECTOR_OPERATION type all(item x) { return _mm512_set1_ps(x); }
  LONGSHORE_VECTOR_OPERATION type load(const item* from) { return _mm512_loadu_ps(from); }
  LONGSHORE_VECTOR_OPERATION void store(item* to, type x) { _mm512_store_ps(to, x); }
  LONGSHORE_VECTOR_OPERATION void stream(item* to, type x) { _mm512_stream_ps(to, x); }
  LONGSHORE_VECTOR_OPERATION type add(type x, type y) { return _mm512_add_ps(x, y); }
  LONGSHORE_VECTOR_OPERATION type multiply(type x, type y) { return _mm512_mul_ps(x, y); }
  LONGSHORE_VECTOR_OPERATION type multiply_add(type x, type y, type z) {
    return _mm512_fmadd_ps(x, y, z);
  }
};

}  // namespace
}  // namespace longshore::detail::stream_loops

#include <longshore/stream/detail/vector_loop.hpp>

namespace longshore::detail::stream_loops {

stream_loop<float> avx512(float, stream_kernel kernel, store_kind stores) {
  return find_vector_loop<float_vector>(kernel, stores);
}
stream_loop<double> avx512(double, stream_kernel kernel, store_kind stores) {
  return find_vector_loop<double_vector>(kernel, stores);
}

}  // namespace longshore::detail::stream_loops

#endif

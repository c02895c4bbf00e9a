// AVX2 loops. Only functions with LONGSHORE_TARGET use AVX2, so the program runs on any processor.
#include <longshore/stream/detail/instruction_set_loops.hpp>

#if LONGSHORE_X86_LOOPS

#define LONGSHORE_TARGET __attribute__((target("avx2,fma")))
#include <longshore/stream/detail/vector_loop.hpp>

namespace longshore::detail::stream_loops {
namespace {

LONGSHORE_VECTOR(double_vector, double, __m256d, _mm256, pd);
LONGSHORE_VECTOR(float_vector, float, __m256, _mm256, ps);

}  // namespace

stream_loop<float> avx2(float, stream_kernel kernel, store_kind stores) {
  return find_vector_loop<float_vector>(kernel, stores);
}
stream_loop<double> avx2(double, stream_kernel kernel, store_kind stores) {
  return find_vector_loop<double_vector>(kernel, stores);
}

}  // namespace longshore::detail::stream_loops

#endif

// Has the portable loops of STREAM, selects the best loop for this processor, and finds the size
// above which streaming stores pay.
#include <longshore/stream/loop.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <algorithm>
#include <cstdint>

// On processors other than x86-64 there is only the portable loop. The compiler vectorises it with
// the instructions that every processor of the architecture has.
#if defined(__x86_64__) && defined(__GNUC__)
#define LONGSHORE_X86_LOOPS 1
#include <immintrin.h>

#define LONGSHORE_VECTOR_OPERATION [[gnu::always_inline]] LONGSHORE_TARGET static inline

// Defines the operations on a vector TYPE of ITEMs by the intrinsics PREFIX_operation_SUFFIX.
#define LONGSHORE_VECTOR(ITEM, TYPE, PREFIX, SUFFIX)                                              \
  template <>                                                                                     \
  struct vector_of<ITEM> {                                                                        \
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

// Only functions with LONGSHORE_TARGET use these sets, so the program runs on any processor.
namespace longshore {
namespace {
namespace avx2_loops {

template <class T>
struct vector_of;
#define LONGSHORE_TARGET __attribute__((target("avx2,fma")))
LONGSHORE_VECTOR(double, __m256d, _mm256, pd);
LONGSHORE_VECTOR(float, __m256, _mm256, ps);
#include <longshore/stream/detail/vector_loop.hpp>
#undef LONGSHORE_TARGET

}  // namespace avx2_loops
namespace avx512_loops {

template <class T>
struct vector_of;
#define LONGSHORE_TARGET __attribute__((target("avx512f")))
LONGSHORE_VECTOR(double, __m512d, _mm512, pd);
LONGSHORE_VECTOR(float, __m512, _mm512, ps);
#include <longshore/stream/detail/vector_loop.hpp>
#undef LONGSHORE_TARGET

}  // namespace avx512_loops
}  // namespace
}  // namespace longshore
#endif

namespace longshore {
namespace {

// Each iteration reads and writes only index i. So iterations are independent, even if `result` is
// x or y. The pragma tells GCC that they are.
template <stream_kernel Kernel, class T>
void plain_loop(T* result, const T* x, const T* y, T scalar, std::size_t n) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) result[i] = stream_value<Kernel>(x[i], y[i], scalar);
}

template <class T>
stream_loop<T> portable(stream_kernel kernel) {
  return with_constant_kernel(kernel, [](auto k) -> stream_loop<T> { return plain_loop<k(), T>; });
}

}  // namespace

std::vector<instruction_set> instruction_sets() {
  std::vector<instruction_set> sets = {instruction_set::portable};
#if LONGSHORE_X86_LOOPS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    sets.push_back(instruction_set::avx2);
  if (__builtin_cpu_supports("avx512f")) sets.push_back(instruction_set::avx512);
#endif
  return sets;
}

template <class T>
stream_loop<T> find_stream_loop(stream_kernel kernel, [[maybe_unused]] store_kind stores,
                                [[maybe_unused]] instruction_set set) {
#if LONGSHORE_X86_LOOPS
  if (set == instruction_set::avx512) return avx512_loops::find_vector_loop<T>(kernel, stores);
  if (set == instruction_set::avx2) return avx2_loops::find_vector_loop<T>(kernel, stores);
#endif
  return portable<T>(kernel);
}

template stream_loop<float> find_stream_loop<float>(stream_kernel, store_kind, instruction_set);
template stream_loop<double> find_stream_loop<double>(stream_kernel, store_kind, instruction_set);

std::size_t reached_cache_bytes(int tasks_of_machine) {
  static const std::size_t cache_bytes = last_level_cache_bytes();
  static const int caches = last_level_cache_count();
  return static_cast<std::size_t>(std::clamp(tasks_of_machine, 1, caches)) * cache_bytes;
}

store_kind store_kind_for(std::size_t bytes, int tasks_of_machine) {
  return bytes > reached_cache_bytes(tasks_of_machine) ? store_kind::streaming
                                                       : store_kind::ordinary;
}

}  // namespace longshore

// The portable loops of STREAM, the selection of the best loop for this processor, and the size
// above which streaming stores pay.
#include <longshore/stream/loop.hpp>

#include <longshore/machine/memory_sizes.hpp>
#include <longshore/stream/detail/instruction_set_loops.hpp>

#include <algorithm>

namespace longshore {
namespace {

// Each iteration reads and writes only index i. So iterations are independent, even if `result` is
// x or y, and the pragma tells GCC so.
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
  if (set == instruction_set::avx512) return detail::stream_loops::avx512(T{}, kernel, stores);
  if (set == instruction_set::avx2) return detail::stream_loops::avx2(T{}, kernel, stores);
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

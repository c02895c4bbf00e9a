// The loop of a kernel over contiguous memory. At run time, the loop with the best vector
// instructions of the processor is chosen.
//
// An ordinary store reads a cache line of the result before the line is written. A streaming store
// does not read the line, so triad moves 3 streams instead of 4. But a streaming store evicts the
// line from the caches. Streaming stores pay if the arrays do not fit into the caches.
#pragma once

#include <longshore/core/name_lookup.hpp>
#include <longshore/stream/kernel.hpp>

#include <cstddef>
#include <vector>

namespace longshore {

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

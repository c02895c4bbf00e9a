// The loop of a kernel over contiguous memory, with the best vector instructions of the processor.
// They are found at run time, so one program runs on any processor.
//
// An ordinary store reads a line of the result before it writes it. A streaming (non-temporal)
// store does not, so triad moves 3 streams instead of 4; but it evicts the line from the caches.
// Streaming stores pay if the arrays do not fit into the caches.
#pragma once

#include <longshore/stream/kernel.hpp>
#include <longshore/stream/store_kind.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace longshore {

enum class instruction_set { portable, avx2, avx512 };

[[nodiscard]] std::string_view name_of(instruction_set set) noexcept;

/// The instruction sets of this processor, the best last. Never empty.
[[nodiscard]] std::vector<instruction_set> instruction_sets();

/// result[i] = kernel of x[i] and y[i], for i in [0, n). The result may be one of the sources, but
/// must not overlap them otherwise. Streaming stores are complete (fenced) on return. Any alignment
/// is allowed; arrays aligned to cache lines are fastest.
template <class T>
using stream_loop = void (*)(T* result, const T* x, const T* y, T scalar, std::size_t n);

/// REQUIRES: the processor has `set`. A set without streaming stores (portable) uses ordinary ones.
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

/// Bytes of last-level cache that this many tasks of a machine can use together, as the machine
/// reports.
[[nodiscard]] std::size_t reached_cache_bytes(int tasks_of_machine);

/// Streaming if `bytes` exceed the last-level caches that the tasks reach, else ordinary. `bytes`
/// are read and written by all tasks of a machine together. Near that size only a measurement can
/// tell: see choose_store_kind.
[[nodiscard]] store_kind store_kind_for(std::size_t bytes, int tasks_of_machine);

}  // namespace longshore

// The loop of a kernel over contiguous memory, in the best vector instructions that the processor
// has: found at run time, so that one program runs everywhere.
//
// Ordinary stores read a line of the result before they write it; streaming (non-temporal) stores
// do not, so that triad moves 3 streams instead of 4, but they take the line out of the caches.
// They pay when the arrays do not fit into the caches anyway.
#pragma once

#include <longshore/stream/kernel.hpp>
#include <longshore/stream/store_kind.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace longshore {

enum class instruction_set { portable, avx2, avx512 };

[[nodiscard]] std::string_view name_of(instruction_set set) noexcept;

/// Those that this processor has, the best last. Never empty.
[[nodiscard]] std::vector<instruction_set> instruction_sets();

/// result[i] = kernel of x[i] and y[i], for i in [0, n). The result may be one of the sources, but
/// must not overlap them otherwise. Streaming stores are complete (fenced) on return. Best when all
/// are aligned to a cache line; anything is allowed.
template <class T>
using stream_loop = void (*)(T* result, const T* x, const T* y, T scalar, std::size_t n);

/// REQUIRES: the processor has `set`. Where a set has no streaming stores (portable), those are
/// ordinary.
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

/// Bytes of last-level cache that so many tasks of a machine reach together, as the machine says.
[[nodiscard]] std::size_t reached_cache_bytes(int tasks_of_machine);

/// Streaming when `bytes`, read and written by all tasks of a machine together, exceed the
/// last-level caches that these tasks reach. Near that size the truth is the machine's: see
/// choose_stores.
[[nodiscard]] store_kind stores_for(std::size_t bytes, int tasks_of_machine);

}  // namespace longshore

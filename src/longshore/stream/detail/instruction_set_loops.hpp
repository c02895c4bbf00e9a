// The loops for the vector instruction sets of x86-64. Other processors have only the portable
// loop, which the compiler vectorises for the instructions that every processor of the architecture
// has.
#pragma once

#include <longshore/stream/loop.hpp>

#if defined(__x86_64__) && defined(__GNUC__)
#define LONGSHORE_X86_LOOPS 1
#else
#define LONGSHORE_X86_LOOPS 0
#endif

namespace longshore::detail::stream_loops {

// The first argument only selects the type of the elements.
[[nodiscard]] stream_loop<float> avx2(float, stream_kernel kernel, store_kind stores);
[[nodiscard]] stream_loop<double> avx2(double, stream_kernel kernel, store_kind stores);
[[nodiscard]] stream_loop<float> avx512(float, stream_kernel kernel, store_kind stores);
[[nodiscard]] stream_loop<double> avx512(double, stream_kernel kernel, store_kind stores);

}  // namespace longshore::detail::stream_loops

// Between loop.cpp and the files of the vector instruction sets, which exist on x86-64 only:
// elsewhere the portable loop is vectorised by the compiler for what every processor of the
// architecture has.
#pragma once

#include <longshore/stream/loop.hpp>

#if defined(__x86_64__) && defined(__GNUC__)
#define LONGSHORE_X86_LOOPS 1
#else
#define LONGSHORE_X86_LOOPS 0
#endif

namespace longshore::stream_loops {

[[nodiscard]] stream_loop<float> avx2(float, stream_kernel kernel, store_kind stores);
[[nodiscard]] stream_loop<double> avx2(double, stream_kernel kernel, store_kind stores);
[[nodiscard]] stream_loop<float> avx512(float, stream_kernel kernel, store_kind stores);
[[nodiscard]] stream_loop<double> avx512(double, stream_kernel kernel, store_kind stores);

}  // namespace longshore::stream_loops

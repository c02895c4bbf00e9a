// Streaming (non-temporal) stores, which bypass the caches. They suit output that is larger than
// the caches: an ordinary store would first read each line that it overwrites.
#pragma once

#include <longshore/core/bytes.hpp>

#include <atomic>
#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace longshore {

/// Whether the processor has a streaming store for values of this type. If not, stream_store is an
/// ordinary store.
template <trivially_copyable T>
inline constexpr bool can_stream =
#if defined(__x86_64__)
    sizeof(T) == 4 || sizeof(T) == 8;
#else
    false;
#endif

template <trivially_copyable T>
inline void stream_store(T* to, const T& value) noexcept {
#if defined(__x86_64__)
  if constexpr (sizeof(T) == 8) {
    _mm_stream_si64(reinterpret_cast<long long*>(to), std::bit_cast<long long>(value));
    return;
  } else if constexpr (sizeof(T) == 4) {
    _mm_stream_si32(reinterpret_cast<int*>(to), std::bit_cast<int>(value));
    return;
  }
#endif
  *to = value;
}

/// Orders all earlier streaming stores before everything that follows. Call it after the last one.
inline void fence_streaming_stores() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace longshore

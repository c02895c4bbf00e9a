// Streaming (non-temporal) stores, which bypass the caches. Use streaming stores for output larger
// than the caches, because an ordinary store first reads the line that it overwrites. Also use them
// for output that another core reads next, because an ordinary store takes the line from the other
// core, and that core then takes it back.
#pragma once

#include <longshore/core/bytes.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

/// Whether stream_line bypasses the caches. If not, stream_line is a plain copy.
inline constexpr bool can_stream_lines =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

/// Copies one cache line. REQUIRES: both addresses are aligned to a cache line.
inline void stream_line(void* to, const void* from) noexcept {
#if defined(__x86_64__)
  const auto* const from_line = static_cast<const __m128i*>(from);
  auto* const to_line = static_cast<__m128i*>(to);
  for (int k = 0; k < 4; ++k) _mm_stream_si128(to_line + k, _mm_load_si128(from_line + k));
#else
  std::memcpy(to, from, cache_line_bytes);
#endif
}

/// Copies `bytes` bytes. Several calls whose outputs follow each other in memory together fill
/// whole cache lines. REQUIRES: `to` and `bytes` are multiples of 4.
inline void stream_run(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  const auto stream_value = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof(T));
    stream_store(reinterpret_cast<T*>(to), value);
    to += sizeof(T), from += sizeof(T), bytes -= sizeof(T);
  };
  const auto misalignment = [&](std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(to) % alignment;
  };
  if (bytes >= 4 && misalignment(8) != 0) stream_value(std::uint32_t{});
  while (bytes >= 8 && misalignment(sizeof(__m128i)) != 0) stream_value(std::uint64_t{});
  for (; bytes >= sizeof(__m128i); bytes -= sizeof(__m128i)) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    to += sizeof(__m128i), from += sizeof(__m128i);
  }
  if (bytes >= 8) stream_value(std::uint64_t{});
  if (bytes >= 4) stream_value(std::uint32_t{});
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Orders all earlier streaming stores before all later stores. Call this function after the last
/// streaming store.
inline void fence_streaming_stores() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace longshore

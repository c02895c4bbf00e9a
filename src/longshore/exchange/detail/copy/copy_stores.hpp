// The stores of a copy.
#pragma once

#include <longshore/core/streaming_store.hpp>

#include <cstddef>
#include <cstring>

namespace longshore::detail {

/// How a copy writes.
enum class copy_stores {
  ordinary,
  /// Bypasses the caches, for memory that another core reads next (core/streaming_store.hpp). The
  /// caller calls fence_streaming_stores() afterwards.
  streaming
};

template <copy_stores Stores>
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if constexpr (Stores == copy_stores::streaming)
    stream_run(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

}  // namespace longshore::detail

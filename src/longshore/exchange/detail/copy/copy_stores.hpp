// The stores of a copy.
#pragma once

namespace longshore::detail {

/// How a copy writes.
enum class copy_stores {
  ordinary,
  /// Bypasses the caches, for memory that another core reads next (core/streaming_store.hpp). The
  /// caller calls fence_streaming_stores() afterwards.
  streaming
};

}  // namespace longshore::detail

// The amount of available memory, and the sizes of caches.
#pragma once

#include <cstddef>

namespace longshore {

/// Bytes that can still be used without swapping: the kernel's MemAvailable, or less if a control
/// group has a limit.
[[nodiscard]] std::size_t available_memory_bytes();

/// Free bytes in the file system for memory shared between processes (/dev/shm); the largest number
/// if it does not exist or has no limit.
[[nodiscard]] std::size_t available_shared_memory_bytes();

/// Bytes of the last-level cache that one core can use; 32 MiB if unknown.
[[nodiscard]] std::size_t last_level_cache_bytes();

/// Number of last-level caches in the machine, each of last_level_cache_bytes(); 1 if unknown.
/// Reads a small file per CPU, so call it once.
[[nodiscard]] int last_level_cache_count();

}  // namespace longshore

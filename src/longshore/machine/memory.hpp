// How much memory there is, and how large the caches are.
#pragma once

#include <cstddef>

namespace longshore {

/// Bytes that can still be used without swapping: what the kernel calls available, less where a
/// control group's limit says so.
[[nodiscard]] std::size_t available_memory_bytes();

/// Bytes free in the file system that backs memory shared between processes (/dev/shm), or the
/// largest number when there is none.
[[nodiscard]] std::size_t available_shared_memory_bytes();

/// Bytes of the last-level cache that one core can reach; 32 MiB when the machine does not say.
[[nodiscard]] std::size_t last_level_cache_bytes();

/// Last-level caches of the whole machine, of last_level_cache_bytes() each; 1 when the machine
/// does not say. Reads a small file per CPU: ask once.
[[nodiscard]] int last_level_cache_count();

}  // namespace longshore

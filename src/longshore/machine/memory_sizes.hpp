// The amount of available memory, and the sizes of caches.
#pragma once

#include <cstddef>
#include <string>

namespace longshore {

/// Bytes that can still be allocated without swapping: the kernel's MemAvailable, or less if a
/// control group has a limit.
[[nodiscard]] std::size_t available_memory_bytes();

/// Throws errc::out_of_memory if less than `bytes` are available. Call this function before an
/// allocation: the kernel grants more memory than is available, and kills the process that uses it.
void require_available_memory(std::size_t bytes);

/// Free bytes in /dev/shm, the file system for memory shared between processes; the largest number
/// if /dev/shm does not exist or has no limit.
[[nodiscard]] std::size_t available_shared_memory_bytes();
/// If /dev/shm is smaller than half of the available memory, as in most containers, returns the end
/// of a message that says how to enlarge /dev/shm. Otherwise returns an empty text.
[[nodiscard]] std::string small_shared_memory_remedy();

/// Bytes of the last-level cache that one core can use; 32 MiB if unknown.
[[nodiscard]] std::size_t last_level_cache_bytes();

/// Number of last-level caches in the machine, each of last_level_cache_bytes(); 1 if unknown.
/// Reads a file per CPU, so keep the result.
[[nodiscard]] int last_level_cache_count();

}  // namespace longshore

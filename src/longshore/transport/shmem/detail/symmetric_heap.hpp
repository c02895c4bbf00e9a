// The size of the symmetric heap of OpenSHMEM.
#pragma once

#include <cstddef>

namespace longshore::shmem {

/// Sets the size before OpenSHMEM starts: SHMEM_SYMMETRIC_SIZE of the environment. Without the
/// variable, the heap holds `symmetric_bytes` of segments and channels, and at least 1 GiB if the
/// host has the memory; unused memory costs nothing. Throws errc::usage if the value of the
/// variable is not a size, and errc::out_of_memory if the host does not have the memory.
void set_symmetric_heap(std::size_t symmetric_bytes);

/// The heap size in SHMEM_SYMMETRIC_SIZE (such as 256M), in bytes; the largest integer if the
/// variable is not set. The sizes of different hosts may differ.
[[nodiscard]] std::size_t symmetric_heap_bytes();

}  // namespace longshore::shmem

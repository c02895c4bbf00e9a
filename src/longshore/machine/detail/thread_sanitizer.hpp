// Words to ThreadSanitizer about run times that it cannot see into (OpenMP, oneTBB), because they
// are not compiled for it. In other builds these functions do nothing. Not inline: the files that
// need them are compiled without the sanitizer.
#pragma once

namespace longshore::detail {

/// What this thread wrote so far is seen by whoever calls tell_acquire with the same address later.
void tell_release(void* address) noexcept;
void tell_acquire(void* address) noexcept;

}  // namespace longshore::detail

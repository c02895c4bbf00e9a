// Annotations for ThreadSanitizer about run times that are not instrumented (OpenMP, oneTBB). In
// other builds these functions do nothing. They are not inline, because the files that call them
// are compiled without the sanitizer.
#pragma once

namespace longshore::detail {

/// States that a later annotate_acquire of the same address sees all earlier writes of this thread.
void annotate_release(void* address) noexcept;
void annotate_acquire(void* address) noexcept;

}  // namespace longshore::detail

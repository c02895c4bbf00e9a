// Annotations for ThreadSanitizer about run times that are not instrumented (OpenMP, oneTBB). The
// functions do nothing in other builds. They are not inline: their callers are compiled without the
// sanitizer.
#pragma once

namespace longshore::detail {

/// States that all earlier writes of this thread are visible after a later annotate_acquire of the
/// same address.
void annotate_release(void* address) noexcept;
void annotate_acquire(void* address) noexcept;

}  // namespace longshore::detail

// The bodies of the annotations, in a file that is compiled with ThreadSanitizer. Their callers,
// openmp_tasks.cpp and tbb_tasks.cpp, are compiled without it.
#include <longshore/machine/detail/task_layer.hpp>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

// Ignores races inside oneTBB, which synchronises its memory in ways that the sanitizer cannot see.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\n";
}  // NOLINT(bugprone-reserved-identifier)
#endif

namespace longshore::detail {

void annotate_release([[maybe_unused]] void* address) noexcept {
#ifdef __SANITIZE_THREAD__
  __tsan_release(address);
#endif
}

void annotate_acquire([[maybe_unused]] void* address) noexcept {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(address);
#endif
}

}  // namespace longshore::detail

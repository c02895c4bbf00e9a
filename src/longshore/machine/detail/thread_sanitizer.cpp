#include <longshore/machine/detail/thread_sanitizer.hpp>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

// oneTBB passes its own memory between threads in ways that the sanitizer cannot see. Ignore races
// inside its library.
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

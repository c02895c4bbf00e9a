#include <longshore/machine/detail/thread_sanitizer.hpp>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>

// oneTBB hands its own memory from thread to thread by means that the sanitizer does not see; what
// it does there is its business.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libtbb.so\n";
}  // NOLINT(bugprone-reserved-identifier)
#endif

namespace longshore::detail {

void tell_release([[maybe_unused]] void* address) noexcept {
#ifdef __SANITIZE_THREAD__
  __tsan_release(address);
#endif
}

void tell_acquire([[maybe_unused]] void* address) noexcept {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(address);
#endif
}

}  // namespace longshore::detail

// The last error of each thread, which longshore_error_message() returns, and longshore_end(),
// which ends all ranks after an error.
#include "guard.hpp"

#include "longshore.h"

#include <longshore/core/failing_exit.hpp>

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>

namespace {

// The exit status of a process after a failed run, the same as in the transports.
constexpr int status_of_a_failed_run = 3;

}  // namespace

namespace longshore::bindings {
namespace {

// The last error of a thread, like errno in C. The only other state of this binding outside of
// teams is the error of the last join.
struct stored_error {
  int code = LONGSHORE_OK;
  std::string message;
};
stored_error& error_of_this_thread() {
  thread_local stored_error last;
  return last;
}

int store(int code, const char* what) noexcept {
  stored_error& last = error_of_this_thread();
  last.code = code;
  try {
    last.message = what;
  } catch (const std::bad_alloc&) {
    last.message.clear();
  }
  return code;
}

}  // namespace

namespace {

// Locked only by joins and after errors.
std::mutex join_mutex;
std::string join_failure;  // "" if the last join did not fail, or if its failure was reported

}  // namespace

void remember_join(bool failed) noexcept {
  const std::scoped_lock lock(join_mutex);
  try {
    join_failure = failed ? longshore_error_message() : "";
  } catch (const std::bad_alloc&) {
    join_failure = "out of memory";
  }
}

void report_ignored_join() noexcept {
  const std::scoped_lock lock(join_mutex);
  if (join_failure.empty()) return;
  std::fprintf(stderr, "longshore: a team is used that was not made: %s\n", join_failure.c_str());
  join_failure.clear();
  fail_at_exit(status_of_a_failed_run);
}

int stored_code() noexcept { return error_of_this_thread().code; }

void forget_error() noexcept {
  error_of_this_thread().code = LONGSHORE_OK;
  error_of_this_thread().message.clear();
}

int store_error() noexcept {
  try {
    throw;
  } catch (const program_failure& e) {  // has no errc
    return store(LONGSHORE_ERROR_PROGRAM, e.what());
  } catch (const error& e) {
    return store(static_cast<int>(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return store(LONGSHORE_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return store(LONGSHORE_ERROR_TRANSPORT, e.what());
  } catch (...) {
    return store(LONGSHORE_ERROR_TRANSPORT, "an exception that is not a std::exception");
  }
}

void check_reserved(const std::int64_t (&reserved)[4], const char* options) {
  for (const std::int64_t number : reserved)
    if (number != 0)
      fail(errc::usage,
           "{}: `reserved` is {}, not 0: initialise all options, such as struct {} o = {{0}};",
           options, number, options);
}

std::size_t count_from(std::int64_t number, const char* what) {
  if (number < 0) fail(errc::usage, "{} is {}: it must be 0 or more", what, number);
  return static_cast<std::size_t>(number);
}

}  // namespace longshore::bindings

// guarded() returns 0 for success. store_error() and longshore_error_name() convert between errc
// and the codes of C by their values.
static_assert(LONGSHORE_OK == 0);
static_assert(LONGSHORE_ERROR_USAGE == static_cast<int>(longshore::errc::usage) &&
              LONGSHORE_ERROR_UNSUPPORTED == static_cast<int>(longshore::errc::unsupported) &&
              LONGSHORE_ERROR_OUT_OF_MEMORY == static_cast<int>(longshore::errc::out_of_memory) &&
              LONGSHORE_ERROR_TIMEOUT == static_cast<int>(longshore::errc::timeout) &&
              LONGSHORE_ERROR_PEER_FAILED == static_cast<int>(longshore::errc::peer_failed) &&
              LONGSHORE_ERROR_TRANSPORT == static_cast<int>(longshore::errc::transport));

extern "C" {

const char* longshore_version(void) { return LONGSHORE_VERSION; }

const char* longshore_error_message(void) {
  return longshore::bindings::error_of_this_thread().message.c_str();
}

int longshore_fail(int code, const char* message) {
  return longshore::bindings::store(code, message == nullptr ? "" : message);
}

void longshore_end(int code) {
  // If ranks are threads, the first rank prints its message and ends the process. All other ranks
  // wait for this end.
  static std::atomic_flag is_ending = ATOMIC_FLAG_INIT;
  while (is_ending.test_and_set()) std::this_thread::sleep_for(std::chrono::hours(1));
  fmt::print(stderr, "longshore: {}: {}\n", longshore_error_name(code), longshore_error_message());
  std::fflush(nullptr);
#ifdef LONGSHORE_HAVE_MPI
  longshore::bindings::abort_mpi(status_of_a_failed_run);
#endif
  std::_Exit(status_of_a_failed_run);
}

const char* longshore_error_name(int code) {
  if (code == LONGSHORE_OK) return "ok";
  if (code == LONGSHORE_ERROR_PROGRAM) return "program";
  if (code < LONGSHORE_ERROR_USAGE || code > LONGSHORE_ERROR_TRANSPORT) return "unknown";
  return longshore::name_of(static_cast<longshore::errc>(code));
}
}

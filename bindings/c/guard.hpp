// Errors at the C interface. C functions that can fail run their bodies in guarded(), which turns
// an exception into a code and stores the message for the thread.
#pragma once

#include <longshore/core/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace longshore::bindings {

/// Stores code and message of the current exception for this thread, and returns the code.
/// REQUIRES: called in a catch block.
[[nodiscard]] int store_error() noexcept;

/// The stored code of this thread; 0 if there is none.
[[nodiscard]] int stored_code() noexcept;
/// Clears the stored code and message of this thread.
void forget_error() noexcept;
/// Remembers whether the last longshore_join failed, and if so the stored error.
void remember_join(bool failed) noexcept;
/// Called with a NULL team. If the program has ignored a failed longshore_join, prints the error of
/// that call and makes the process end with status 3.
void report_ignored_join() noexcept;
/// Ends all processes of an MPI job, if MPI is initialised and not finalised. Defined in
/// longshore_mpi.cpp.
void abort_mpi(int status);

/// Returns LONGSHORE_OK if body() returns, else the code of its exception.
template <class Body>
[[nodiscard]] int guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return store_error();
  }
}

/// Throws errc::usage if the pointer is NULL. `what` names the pointer in the message.
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) fail(errc::usage, "{} is NULL", what);
  return *pointer;
}

/// Throws errc::usage unless all numbers are 0. Another number means that the program did not
/// initialise the options.
void check_reserved(const std::int64_t (&reserved)[4], const char* options);

/// Like required(), but the message points to the call that makes the object.
template <class T>
T& required_object(T* object, const char* what) {
  if (object == nullptr)
    fail(errc::usage, "{} is NULL: check the code of the call that made it", what);
  return *object;
}

/// Throws errc::usage for a number below 0. `what` names the number in the message.
[[nodiscard]] std::size_t count_from(std::int64_t number, const char* what);

[[nodiscard]] inline std::string_view text_or(const char* text, std::string_view default_text) {
  return text == nullptr ? default_text : std::string_view(text);
}

}  // namespace longshore::bindings

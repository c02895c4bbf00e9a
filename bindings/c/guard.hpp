// Where exceptions end: everything that a C function does runs inside guarded(), which makes of an
// exception its code and keeps its message.
#pragma once

#include <longshore/core/error.hpp>

#include <string>
#include <string_view>

namespace longshore::bindings {

/// Inside a catch block: keeps the message for this thread, returns the code.
[[nodiscard]] int keep_error() noexcept;

/// The code of the message that is kept for this thread; 0 when there is none.
[[nodiscard]] int kept_code() noexcept;
/// Ends all processes of an MPI job, where MPI has been started. In longshore_mpi.cpp.
void abort_mpi(int status);
/// As if no call of this thread had failed.
void forget_error() noexcept;

template <class Body>
[[nodiscard]] int guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return keep_error();
  }
}

/// Throws errc::usage when a pointer that a call needs is NULL.
template <class T>
T& needed(T* pointer, const char* what) {
  if (pointer == nullptr) fail(errc::usage, "{} is NULL", what);
  return *pointer;
}

/// Throws errc::usage for a number below 0.
[[nodiscard]] std::size_t count_from(std::int64_t number, const char* what);

/// A text of the caller, or a default for NULL.
[[nodiscard]] inline std::string_view word_or(const char* given, std::string_view otherwise) {
  return given == nullptr ? otherwise : std::string_view(given);
}

}  // namespace longshore::bindings

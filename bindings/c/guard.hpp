// Errors at the C interface. Every C function that can fail runs its body inside guarded(), which
// turns an exception into a code and stores its message for the thread.
#pragma once

#include <longshore/core/error.hpp>

#include <string>
#include <string_view>

namespace longshore::bindings {

/// Call it inside a catch block. Stores the exception's code and message for this thread and
/// returns the code.
[[nodiscard]] int store_error() noexcept;

/// The stored code of this thread; 0 if there is none.
[[nodiscard]] int stored_code() noexcept;
/// Ends all processes of an MPI job, if MPI is initialised. Defined in longshore_mpi.cpp.
void abort_mpi(int status);
/// Clears the stored code and message of this thread.
void forget_error() noexcept;

template <class Body>
[[nodiscard]] int guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return store_error();
  }
}

/// Throws errc::usage if the pointer is NULL; `what` names it in the message.
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) fail(errc::usage, "{} is NULL", what);
  return *pointer;
}

/// Throws errc::usage for a number below 0; `what` names it in the message.
[[nodiscard]] std::size_t count_from(std::int64_t number, const char* what);

/// The string, or the default if it is NULL.
[[nodiscard]] inline std::string_view text_or(const char* given, std::string_view otherwise) {
  return given == nullptr ? otherwise : std::string_view(given);
}

}  // namespace longshore::bindings

// Checks around calls of MPI: return codes, and lengths that do not fit an int.
#pragma once

#include <longshore/core/error.hpp>

#include <mpi.h>

#include <climits>
#include <cstddef>

namespace longshore::mpi {

/// Exit status of a process whose rank failed.
inline constexpr int runtime_failure_status = 3;

/// Throws errc::transport with MPI's error text unless `code` is MPI_SUCCESS. `call` is the name of
/// the MPI function.
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(errc::transport, "{} failed: {}", call, text);
}

/// `n` as an int, the type of counts in MPI. Throws errc::usage if `n` is too large.
inline int count(std::size_t n, const char* call) {
  if (n > INT_MAX)
    fail(errc::usage,
         "{}: {} elements, but MPI can count only to {}: split the data over more ranks or calls",
         call, n, INT_MAX);
  return static_cast<int>(n);
}

}  // namespace longshore::mpi

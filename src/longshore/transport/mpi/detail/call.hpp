// Calls of MPI: checks of return codes, of lengths that do not fit an int, of lists of requests.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/detail/headers.hpp>

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <string_view>
#include <vector>

namespace longshore::mpi {

/// Throws errc::transport with MPI's error text unless `code` is MPI_SUCCESS. `call` is the name of
/// the MPI function.
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(errc::transport, "{} failed: {}", call, text);
}

/// Throws errc::usage if `headers`, the headers_name of a caller, differs from that of this
/// library. Null passes.
inline void check_headers(const char* headers) {
  if (headers != nullptr && std::string_view(headers) != headers_name)
    fail(errc::usage,
         "this program was compiled with the headers of {}, and Longshore with those of {}: build "
         "both with one MPI library",
         headers, headers_name);
}

/// `n` as an int, the type of counts in MPI. Throws errc::usage if `n` is too large.
inline int count(std::size_t n, const char* call) {
  if (n > INT_MAX)
    fail(errc::usage,
         "{}: {} elements, but MPI can count only to {}: split the data over more ranks or calls",
         call, n, INT_MAX);
  return static_cast<int>(n);
}

/// Whether all requests are complete.
[[nodiscard]] inline bool test_all(std::vector<MPI_Request>& requests) {
  int are_complete = 0;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &are_complete,
                    MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return are_complete != 0;
}

}  // namespace longshore::mpi

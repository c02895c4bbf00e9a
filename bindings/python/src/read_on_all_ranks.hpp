// Reads the arguments of a collective call. If the arguments of one rank are wrong, all ranks get
// an error, so that no rank waits for a rank that has left the call.
#pragma once

#include "gil.hpp"

#include <longshore/transport/agree_on_arguments.hpp>

#include <exception>
#include <string_view>

namespace longshore::python {

/// Calls `read`. Returns the exception that `read` throws, or null.
template <class Read>
[[nodiscard]] std::exception_ptr error_of(const Read& read) noexcept {
  try {
    read();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Collective: one allreduce of 24 bytes. `refused`: the error of this rank's arguments, or null. All
/// ranks throw if one has an error, or if `same` differs. REQUIRES: the thread does not hold the GIL.
inline void agree_on_read(team& ranks, std::string_view operation, const common_arguments& same,
                          const std::exception_ptr& refused) {
  agree_on_call(ranks, operation, same, [&] {
    if (refused) std::rethrow_exception(refused);
  });
}

/// Collective: one allreduce of 24 bytes. Calls `read`, which may add to `same` the values that
/// must be the same on all ranks. If `read` throws on any rank, all ranks throw.
/// REQUIRES: the thread holds the GIL.
template <class Read>
void read_on_all_ranks(team& ranks, std::string_view operation, const common_arguments& same,
                       const Read& read) {
  const std::exception_ptr refused = error_of(read);
  const release_gil unlocked;
  agree_on_read(ranks, operation, same, refused);
}
template <class Read>
void read_on_all_ranks(team& ranks, std::string_view operation, const Read& read) {
  read_on_all_ranks(ranks, operation, {}, read);
}

}  // namespace longshore::python

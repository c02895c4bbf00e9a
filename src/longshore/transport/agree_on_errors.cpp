// The messages of errors on which all ranks have agreed, outside of the template agree_on_errors().
#include <longshore/transport/agree_on_errors.hpp>

#include <fmt/core.h>

namespace longshore {

std::exception_ptr out_of_memory_on(std::string_view operation, int rank) {
  return std::make_exception_ptr(
      error(errc::out_of_memory,
            fmt::format("{} on rank {}: memory ran out: use smaller sizes or fewer ranks per node",
                        operation, rank)));
}

void throw_for_failed_rank(std::string_view operation, int rank, std::int64_t failed_rank,
                           errc code) {
  if (code == errc::out_of_memory)
    fail(errc::out_of_memory, "{} on rank {} was stopped: rank {} does not have enough memory",
         operation, rank, failed_rank);
  fail(errc::peer_failed, "{} on rank {} was stopped: rank {} failed; see its message", operation,
       rank, failed_rank);
}

}  // namespace longshore

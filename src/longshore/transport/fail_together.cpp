#include <longshore/transport/fail_together.hpp>

#include <fmt/core.h>

namespace longshore::detail {

std::exception_ptr out_of_memory_on(std::string_view what, int rank) {
  return std::make_exception_ptr(
      error(errc::out_of_memory,
            fmt::format("{} on rank {}: memory ran out: use smaller sizes or fewer ranks per node",
                        what, rank)));
}

void give_up_with(std::string_view what, int rank, std::int64_t failed_rank, errc code) {
  if (code == errc::out_of_memory)
    fail(errc::out_of_memory, "{} on rank {} was given up: rank {} does not have the memory for it",
         what, rank, failed_rank);
  fail(errc::peer_failed, "{} on rank {} was given up: rank {} cannot take part, and says why",
       what, rank, failed_rank);
}

}  // namespace longshore::detail

// Selects the direct library calls of a team's transport, for benchmarks.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/raw_calls_of.hpp>
#if defined(LONGSHORE_HAVE_SHMEM) || defined(LONGSHORE_HAVE_UCX)
#include <longshore/transport/one_sided/detail/raw_calls.hpp>
#endif

namespace longshore {

bool has_raw_calls(std::string_view transport) noexcept {
  return transport == "shmem" || transport == "ucx";
}

std::unique_ptr<detail::raw_calls> raw_calls_of(team& team, [[maybe_unused]] std::size_t bytes) {
#if defined(LONGSHORE_HAVE_SHMEM) || defined(LONGSHORE_HAVE_UCX)
  if (auto calls = one_sided::make_raw_calls(team, bytes)) return calls;
#endif
  fail(errc::unsupported,
       "transport {} has no direct library calls to measure: raw is for shmem and ucx",
       team.transport_name());
}

}  // namespace longshore

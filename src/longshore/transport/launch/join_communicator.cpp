// Makes a team of an MPI communicator, for programs that have started MPI. They need no other
// transport, so this file knows none.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/join.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/lifetime.hpp>
#include <longshore/transport/mpi/run.hpp>
#endif

namespace longshore {

std::shared_ptr<team> detail::join([[maybe_unused]] const void* communicator,
                                   [[maybe_unused]] const char* headers,
                                   [[maybe_unused]] const run_options& options) {
#ifdef LONGSHORE_HAVE_MPI
  return mpi::join(communicator, headers, options);
#else
  fail(errc::unsupported, "a team of an MPI communicator: this Longshore was built without MPI");
#endif
}

void detail::forget_open_teams() {
#ifdef LONGSHORE_HAVE_MPI
  mpi::forget_open_teams();
#endif
}

bool detail::mpi_has_ended() noexcept {
#ifdef LONGSHORE_HAVE_MPI
  return mpi::has_ended();
#else
  return false;
#endif
}

}  // namespace longshore

// Makes a team outside of run(), on the transports that allow it: threads and mpi.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/threads/run.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/lifetime.hpp>
#include <longshore/transport/mpi/run.hpp>
#endif

namespace longshore {

std::shared_ptr<team> join(const run_options& options) {
  const std::string transport = chosen_transport(options.transport);
#ifdef LONGSHORE_HAVE_MPI
  if (transport == "mpi") return mpi::join(options);
#endif
  if (transport == "threads") return threads::join(options);
  fail(errc::unsupported,
       "a team of transport {} outside of run() is not possible: use threads or mpi", transport);
}

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

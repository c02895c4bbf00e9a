// Makes a team outside of run(), on the transports that allow it: threads and mpi.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/threads/run.hpp>
#ifdef LONGSHORE_HAVE_MPI
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

}  // namespace longshore

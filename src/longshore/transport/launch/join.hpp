// Making a team outside of run(): for interpreters and notebooks, which cannot pass the program as
// a function, and for programs that start MPI themselves and have a communicator.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore {

/// Under an MPI launcher: collective; the team of all processes. If the program has not initialised
/// MPI, join() does so, and the destruction of the team finalises MPI. Without a launcher: a team
/// of one rank, the calling thread. Destroying the team is collective.
///
/// Unlike with run(), an error of one rank does not end the run: the caller handles the error, and
/// the other ranks time out. Throws errc::unsupported for the transports shmem and ucx, and
/// errc::usage for a transport that this build does not have.
[[nodiscard]] std::shared_ptr<team> join(const run_options& options);

/// Collective over a communicator of a program that has initialised MPI. `communicator` points to
/// an MPI_Comm, which may be freed after the call. The options ranks_per_node, timeout_seconds and
/// check_calls are used. No rank is bound to a CPU. Throws errc::unsupported in a build without
/// MPI, and errc::usage if MPI is not running. Destroying the team is collective, and must precede
/// MPI_Finalize.
[[nodiscard]] std::shared_ptr<team> join_communicator(const void* communicator,
                                                      const run_options& options);

}  // namespace longshore

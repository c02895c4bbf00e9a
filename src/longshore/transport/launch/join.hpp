// Joining a team outside of run(): for interpreters and notebooks, whose program is no function
// that could be handed over, and for programs that started MPI themselves and have a communicator.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore {

/// The team that run() would give with these options: under an MPI launcher that of all processes
/// (collective; MPI is started unless it was, and ended with the team if it was started here), else
/// one rank alone, which is the calling thread. Nobody ends the run when a rank fails: an error is
/// the caller's to handle, and the other ranks find out at their deadline. Throws errc::unsupported
/// for a transport that starts its own processes (shmem, ucx), errc::usage for one that this build
/// does not have. The end of the team is collective.
[[nodiscard]] std::shared_ptr<team> join(const run_options& options);

/// Collective over a communicator of a program that has started MPI; `communicator` points to an
/// MPI_Comm, which may be freed when the team has been made. The options say ranks_per_node and
/// timeout_seconds. Throws errc::unsupported in a build without MPI, errc::usage when MPI is not
/// running. The end of the team is collective, and comes before MPI_Finalize.
[[nodiscard]] std::shared_ptr<team> join_communicator(const void* communicator,
                                                      const run_options& options);

}  // namespace longshore

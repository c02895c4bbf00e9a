// Making a team outside of run(): for interpreters and notebooks, which cannot pass the program as
// a function. Programs that start MPI themselves use longshore/mpi.hpp.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore {

/// Under an MPI launcher, join() is collective and returns the team of all processes. If the
/// program has not initialised MPI, join() does so, and the destruction of the team finalises MPI.
/// Without a launcher, returns a team of one rank, the calling thread. Destroying the team is
/// collective.
///
/// Unlike with run(), an error of one rank does not end the run: the caller handles the error, and
/// the other ranks time out. Throws errc::unsupported for the transports shmem and ucx, and
/// errc::usage for a transport that this build does not have.
[[nodiscard]] std::shared_ptr<team> join(const run_options& options);

namespace detail {
/// `communicator` points to an MPI_Comm. `headers` names the MPI library whose mpi.h the caller was
/// compiled with (transport/mpi/detail/headers.hpp); null: unknown.
[[nodiscard]] std::shared_ptr<team> join(const void* communicator, const char* headers,
                                         const run_options& options);
/// For an interpreter whose program has failed: MPI_Finalize will not report teams that exist now.
void forget_open_teams();
/// Whether MPI has ended while a team existed.
[[nodiscard]] bool mpi_has_ended() noexcept;
}  // namespace detail

}  // namespace longshore

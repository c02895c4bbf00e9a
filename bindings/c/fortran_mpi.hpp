// Communicators of Fortran.
#pragma once

#include <longshore/transport/mpi/lifetime.hpp>

#include <mpi.h>

namespace longshore::bindings {

/// The communicator in C. MPI_Comm_f2c needs an initialised MPI; without it the result is
/// MPI_COMM_NULL, and calls fail before they look at the communicator.
[[nodiscard]] inline MPI_Comm from_fortran(MPI_Fint communicator) {
  return mpi::state_of_mpi() == mpi::mpi_state::running ? MPI_Comm_f2c(communicator)
                                                        : MPI_COMM_NULL;
}

}  // namespace longshore::bindings

// Communicators of mpi4py. This file and its source build without mpi4py and without MPI.
#pragma once

#include <nanobind/nanobind.h>

namespace longshore::python {

/// A communicator of mpi4py, in the form that the C++ interface takes.
struct mpi4py_communicator {
  const void* address = nullptr;  ///< of the MPI_Comm, which the Python object owns
  /// The MPI library that mpi4py was built with, as in transport/mpi/detail/headers.hpp; null if unknown.
  const char* headers = nullptr;
};

/// Throws TypeError unless `comm` is a communicator of mpi4py, and errc::usage for COMM_NULL and for
/// an inter-communicator. `caller` begins the messages.
[[nodiscard]] mpi4py_communicator communicator_of(nanobind::handle comm, const char* caller);

}  // namespace longshore::python

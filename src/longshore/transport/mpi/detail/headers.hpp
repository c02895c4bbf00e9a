// The MPI library whose header mpi.h is compiled. Programs of one MPI library crash in another one.
#pragma once

#include <mpi.h>

namespace longshore::mpi {

/// "Open MPI"; "MPICH" for the libraries with its binary interface (Intel MPI, MVAPICH, Cray
/// MPICH); "another MPI".
#if defined(OPEN_MPI)
inline constexpr char headers_name[] = "Open MPI";
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
inline constexpr char headers_name[] = "MPICH";
#else
inline constexpr char headers_name[] = "another MPI";
#endif

}  // namespace longshore::mpi

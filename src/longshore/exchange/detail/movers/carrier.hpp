// What carries the messages of a plan.
#pragma once

namespace longshore::detail {

enum class carrier {
  channels,        ///< slots of channels on a node; posted requests between nodes over MPI
  direct,          ///< reads from the sender's memory on a node where possible; else like channels
  mpi_waitall,     ///< MPI_Irecv, MPI_Isend, MPI_Waitall
  mpi_persistent,  ///< requests that are made once, MPI_Startall
  mpi_neighbor     ///< MPI_Ineighbor_alltoallv on a graph communicator
};

[[nodiscard]] constexpr bool is_mpi_carrier(carrier by) noexcept {
  return by >= carrier::mpi_waitall;
}

}  // namespace longshore::detail

// What carries the messages of a plan.
#pragma once

namespace longshore::detail {

/// The sequences of MPI calls come last. `per pair` calls are made for each call_pair of a round, one
/// pair after another.
enum class carrier {
  channels,         ///< slots of channels on a node; posted requests between nodes over MPI
  direct,           ///< reads from the sender's memory on a node where possible; else like channels
  mpi_sendrecv,     ///< per pair: MPI_Sendrecv
  mpi_redblack,     ///< per pair: MPI_Send, then MPI_Recv, or first MPI_Recv
  mpi_isend_recv,   ///< per pair: MPI_Isend, MPI_Recv, MPI_Wait
  mpi_irecv_send,   ///< per pair: MPI_Irecv, MPI_Send, MPI_Wait
  mpi_pairwise,     ///< per pair: MPI_Irecv, MPI_Isend, MPI_Waitall
  mpi_waitall,      ///< MPI_Irecv, MPI_Isend, MPI_Waitall
  mpi_persistent,   ///< requests that are made once, MPI_Startall
  mpi_neighbor,     ///< a neighbourhood collective, which blocks if the round has pairs
  mpi_partitioned,  ///< requests that are made once, MPI_Pready for each part
  mpi_subarray,     ///< like mpi_waitall, with datatypes that describe the elements
  mpi_rma_fence,    ///< MPI_Win_fence, MPI_Put, MPI_Win_fence
  mpi_rma_pscw,     ///< MPI_Win_post, MPI_Win_start, MPI_Put, MPI_Win_complete, MPI_Win_wait
  mpi_rma_flush     ///< MPI_Put, MPI_Win_flush, and empty messages as signals
};

[[nodiscard]] constexpr bool is_mpi_carrier(carrier by) noexcept {
  return by >= carrier::mpi_sendrecv;
}

}  // namespace longshore::detail

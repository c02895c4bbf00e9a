// The backends of modes waitall and persistent: all receives and sends of a round are in flight
// together. The call sequences are those of halobench (github.com/davidhenty/halobench,
// haloswap.f90).
//
// Cost: one step; 12 or 52 requests. start() does not block.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

/// Base of these backends: the exchange is complete when all requests are complete.
class nonblocking_backend : public mode_backend {
 public:
  explicit nonblocking_backend(const round_setup& setup, buffering buffered = buffering::strided);
  ~nonblocking_backend() override;
  [[nodiscard]] bool test() override;
  void wait() final;

 protected:
  // All receives in the order of the message pairs, then all sends.
  std::vector<MPI_Request> requests_;
  bool in_flight_ = false;
};

/// All MPI_Irecv, all MPI_Isend, one MPI_Waitall.
class waitall_backend final : public nonblocking_backend {
 public:
  using nonblocking_backend::nonblocking_backend;
  void start() override;
};

/// MPI_Recv_init and MPI_Send_init once; then MPI_Startall and MPI_Waitall.
class persistent_backend final : public nonblocking_backend {
 public:
  explicit persistent_backend(const round_setup& setup);
  void start() override;
};

}  // namespace longshore::mpi

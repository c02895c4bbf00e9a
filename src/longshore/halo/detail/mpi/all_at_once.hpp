// Modes waitall and persistent: every receive and every send of the round in flight together. Call
// sequences as in halobench (github.com/davidhenty/halobench, haloswap.f90).
//
// Cost: one step; 12 or 52 requests. start() does not block.
#pragma once

#include <longshore/halo/detail/mpi/legs.hpp>

namespace longshore::mpi {

/// Base: what is in flight is complete when all requests are.
class all_at_once : public legs {
 public:
  all_at_once(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers,
              by_buffer which = by_buffer::where_needed);
  [[nodiscard]] bool test() override;
  void wait() final;

 protected:
  std::vector<MPI_Request> requests_;  // receives, then sends, in the order of the legs
  bool in_flight_ = false;
};

/// All MPI_Irecv, all MPI_Isend, one MPI_Waitall.
class waitall final : public all_at_once {
 public:
  using all_at_once::all_at_once;
  void start() override;
};

/// MPI_Recv_init and MPI_Send_init once; then MPI_Startall and MPI_Waitall.
class persistent final : public all_at_once {
 public:
  persistent(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  ~persistent() override;
  void start() override;
};

}  // namespace longshore::mpi

// Modes sendrecv, redblack, isend-recv, irecv-send and pairwise: one message after the other, as a
// program writes them that exchanges one side at a time. The call sequences are those of halobench
// (github.com/davidhenty/halobench, haloswap.f90).
//
// Cost: as many dependent steps as there are legs (6 or 26). start() blocks: everything has arrived
// when it returns.
#pragma once

#include <longshore/halo/detail/mpi/legs.hpp>

namespace longshore::mpi {

/// Base: the exchange is complete when start() returns.
class leg_by_leg : public legs {
 public:
  using legs::legs;
  void start() final {
    const auto deadline = guarded();
    for (std::size_t i = 0; i < count(); ++i) exchange(i);
    unpack_all();
  }
  [[nodiscard]] bool test() final { return true; }
  void wait() final {}

 protected:
  /// One leg by MPI_Sendrecv.
  void send_and_receive(std::size_t leg);

 private:
  virtual void exchange(std::size_t leg) = 0;
};

/// MPI_Sendrecv.
class sendrecv final : public leg_by_leg {
 public:
  using leg_by_leg::leg_by_leg;

 private:
  void exchange(std::size_t leg) override;
};

/// Red ranks send, then receive; black ranks receive, then send. Through faces the colour is the
/// parity of the sum of the coordinates. Through edges and corners that sum may not change: there
/// it is the parity of the first coordinate that does. A rank that is alone along a periodic
/// dimension exchanges with itself by MPI_Sendrecv.
class redblack final : public leg_by_leg {
 public:
  redblack(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);

 private:
  void exchange(std::size_t leg) override;
  std::vector<bool> is_red_, is_own_;  // by leg
};

/// MPI_Isend, MPI_Recv, MPI_Wait.
class isend_recv final : public leg_by_leg {
 public:
  using leg_by_leg::leg_by_leg;

 private:
  void exchange(std::size_t leg) override;
};

/// MPI_Irecv, MPI_Send, MPI_Wait.
class irecv_send final : public leg_by_leg {
 public:
  using leg_by_leg::leg_by_leg;

 private:
  void exchange(std::size_t leg) override;
};

/// MPI_Irecv, MPI_Isend, MPI_Waitall of the two.
class pairwise final : public leg_by_leg {
 public:
  using leg_by_leg::leg_by_leg;

 private:
  void exchange(std::size_t leg) override;
};

}  // namespace longshore::mpi

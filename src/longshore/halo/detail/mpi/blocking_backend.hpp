// The backends of modes sendrecv, redblack, isend-recv, irecv-send and pairwise: one send and
// receive pair after the other, as in programs that exchange one side at a time. The call sequences
// are those of halobench (github.com/davidhenty/halobench, haloswap.f90).
//
// Cost: one dependent step per pair (6 or 26). start() blocks: all messages have arrived when it
// returns.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

/// Base: the exchange is complete when start() returns.
class blocking_backend : public mode_backend {
 public:
  using mode_backend::mode_backend;
  void start() final {
    const auto deadline = guarded();
    for (std::size_t i = 0; i < count(); ++i) exchange(i);
    unpack_all();
  }
  [[nodiscard]] bool test() final { return true; }
  void wait() final {}

 protected:
  /// Exchanges one pair by MPI_Sendrecv.
  void send_and_receive(std::size_t pair);

 private:
  virtual void exchange(std::size_t pair) = 0;
};

/// MPI_Sendrecv.
class sendrecv_backend final : public blocking_backend {
 public:
  using blocking_backend::blocking_backend;

 private:
  void exchange(std::size_t pair) override;
};

/// Red ranks send, then receive; black ranks receive, then send. Through faces the colour of a rank
/// is the parity of the sum of its coordinates. Through edges this parity may be the same for both
/// ranks, so through edges and corners the colour is the parity of the first coordinate that
/// differs. A rank that is alone along a periodic dimension exchanges with itself by MPI_Sendrecv.
class redblack_backend final : public blocking_backend {
 public:
  redblack_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
                   tasks* workers);

 private:
  void exchange(std::size_t pair) override;
  std::vector<bool> is_red_, is_own_;  // by pair
};

/// MPI_Isend, MPI_Recv, MPI_Wait.
class isend_recv_backend final : public blocking_backend {
 public:
  using blocking_backend::blocking_backend;

 private:
  void exchange(std::size_t pair) override;
};

/// MPI_Irecv, MPI_Send, MPI_Wait.
class irecv_send_backend final : public blocking_backend {
 public:
  using blocking_backend::blocking_backend;

 private:
  void exchange(std::size_t pair) override;
};

/// MPI_Irecv, MPI_Isend, MPI_Waitall of the two.
class pairwise_backend final : public blocking_backend {
 public:
  using blocking_backend::blocking_backend;

 private:
  void exchange(std::size_t pair) override;
};

}  // namespace longshore::mpi

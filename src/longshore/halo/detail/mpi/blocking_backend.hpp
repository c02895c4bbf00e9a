// The backends of modes sendrecv, redblack, isend-recv, irecv-send and pairwise: one message pair
// after another, as in programs that exchange one side at a time. The call sequences are those of
// halobench (github.com/davidhenty/halobench, haloswap.f90).
//
// Cost: one dependent step per message pair (6 or 26). start() blocks until all messages have
// arrived.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

/// Base of these backends: the exchange is complete when start() returns.
class blocking_backend : public mode_backend {
 public:
  using mode_backend::mode_backend;
  void start() final {
    const auto deadline = limit_time();
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
/// is the parity of the sum of its coordinates. Two neighbours through an edge may have the same
/// sum. So through edges and corners the colour is the parity of the first coordinate in which the
/// neighbours differ. Neighbours then have different colours, if periodic dimensions have an even
/// number of ranks or one. A rank that is alone along a periodic dimension exchanges with itself by
/// MPI_Sendrecv.
class redblack_backend final : public blocking_backend {
 public:
  explicit redblack_backend(const round_setup& setup);

 private:
  void exchange(std::size_t pair) override;
  // Indexed by message pair. `is_self_` tells that the peer is this rank.
  std::vector<bool> is_red_, is_self_;
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

/// MPI_Irecv, MPI_Isend, one MPI_Waitall.
class pairwise_backend final : public blocking_backend {
 public:
  using blocking_backend::blocking_backend;

 private:
  void exchange(std::size_t pair) override;
};

}  // namespace longshore::mpi

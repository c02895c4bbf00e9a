// The backend of mode neighbor: one neighbourhood collective. If the messages are the faces, of
// equal size and adjacent in memory, the call is MPI_Neighbor_alltoall on a Cartesian communicator,
// as in halobench. Other messages use MPI_Neighbor_alltoallv, and a graph communicator if there are
// edges and corners.
//
// Along a dimension of one or two ranks, the neighbours on both sides are the same rank. Some MPI
// libraries then confuse the two sides (halobench has the test program neightest.f90;
// open-mpi/ompi#14433). So a new plan sends the index of each message pair to the neighbour. The
// received indices tell to which message pair each received block belongs.
//
// Cost for d dimensions: one collective with 2 d or 3^d - 1 messages. start() blocks.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

class neighbor_backend final : public mode_backend {
 public:
  explicit neighbor_backend(const round_setup& setup);
  void start() override;
  [[nodiscard]] bool test() override { return true; }
  void wait() override {}
  [[nodiscard]] const std::byte* received(std::size_t pair) const override;

 private:
  neighbor_backend(const round_setup& setup, bool without_packing);
  void make_cartesian(const rank_grid& grid);
  void make_graph();
  void learn_block_order(const rank_grid& grid);

  communicator neighbours_;
  bool without_packing_;
  std::vector<std::size_t> send_pairs_, receive_pairs_;  // the message pair of each block
  std::vector<int> send_bytes_, send_offsets_, receive_bytes_, receive_offsets_;
};

}  // namespace longshore::mpi

// The backend of mode neighbor: one neighbourhood collective. If the messages are the faces, of
// equal size and adjacent in memory, it is MPI_Neighbor_alltoall on a Cartesian communicator, as in
// halobench. Otherwise it is MPI_Neighbor_alltoallv, for edges and corners on a graph communicator.
//
// Along a dimension of one or two ranks, the neighbours on both sides are the same rank, and some
// MPI libraries confuse the two sides (halobench has the test program neightest.f90;
// open-mpi/ompi#14433). So each plan first sends the number of each pair along its edge. The
// numbers that arrive tell to which pair each received block belongs.
//
// Cost: one collective with 2 d or 3^d - 1 messages. start() blocks.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

class neighbor_backend final : public mode_backend {
 public:
  neighbor_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
                   tasks* workers);
  void start() override;
  [[nodiscard]] bool test() override { return true; }
  void wait() override {}
  [[nodiscard]] const std::byte* received(std::size_t pair) const override;

 private:
  neighbor_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
                   tasks* workers, bool without_packing);
  void make_cartesian(const rank_grid& grid);
  void make_graph();
  void learn_block_order(const rank_grid& grid);

  communicator neighbours_;
  bool without_packing_;
  std::vector<std::size_t> send_pairs_, receive_pairs_;  // the pair of each block
  std::vector<int> send_bytes_, send_offsets_, receive_bytes_, receive_offsets_;
};

}  // namespace longshore::mpi

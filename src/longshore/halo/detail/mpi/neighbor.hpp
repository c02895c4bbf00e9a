// Mode neighbor: one MPI_Neighbor_alltoall on a Cartesian communicator, as in halobench, where the
// messages are the faces, equal and side by side in memory; else MPI_Neighbor_alltoallv, for edges
// and corners on a graph communicator.
//
// Where a dimension has one or two ranks the same rank is neighbour on both sides, and MPI
// libraries have mixed the two up (the test program neightest.f90 of halobench;
// open-mpi/ompi#14433). So each plan first sends every leg's number along it, and receives each
// block to where it belongs by what came, if need be.
//
// Cost: one collective, 2 d or 3^d - 1 messages within it. start() blocks.
#pragma once

#include <longshore/halo/detail/mpi/legs.hpp>

namespace longshore::mpi {

class neighbor final : public legs {
 public:
  neighbor(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  void start() override;
  [[nodiscard]] bool test() override { return true; }
  void wait() override {}
  [[nodiscard]] const std::byte* received(std::size_t leg) const override;

 private:
  neighbor(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers,
           bool without_packing);
  void make_cartesian(const rank_grid& grid);
  void make_graph();
  void learn_order(const rank_grid& grid);

  communicator neighbours_;
  bool without_packing_;
  std::vector<std::size_t> send_legs_, receive_legs_;  // the leg that each block belongs to
  std::vector<int> send_bytes_, send_offsets_, receive_bytes_, receive_offsets_;
};

}  // namespace longshore::mpi

// Jacobi steps on a grid of cells, with Longshore in place of the halo exchange of
// jacobi_by_hand.cpp. The rest of the program, in jacobi.hpp, is the same.
//
//     mpirun -n 4 jacobi_longshore 37 30 26 10      37 x 30 x 26 cells, 10 steps
#include <longshore/longshore.hpp>
#include <longshore/mpi.hpp>

#include "jacobi.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace {

/// Describes the memory that a plan exchanges.
longshore::field_view<double> view(const block& b, std::vector<double>& u) {
  const std::array<std::size_t, 3> cells{std::size_t(b.cells[0]), std::size_t(b.cells[1]),
                                         std::size_t(b.cells[2])};
  return {&u[b.at(0, 0, 0)], cells, {1, b.row(), b.plane()}, width};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto argument = [&](int i, int value) { return argc > i ? std::atoi(argv[i]) : value; };
  const int domain[3] = {argument(1, 37), argument(2, 30), argument(3, 26)};
  const int steps = argument(4, 10);
  block b = make_block(domain);
  std::vector<double> u = first_values(b), v(b.size());

  double exchanging = 0, seconds = 0;
  {
    const std::shared_ptr<longshore::team> team = longshore::join(b.cart);
    const longshore::rank_grid grid = longshore::cart_grid(*team, b.cart);
    longshore::halo_exchange halo_of_u(grid, {}, view(b, u)), halo_of_v(grid, {}, view(b, v));
    auto *halo = &halo_of_u, *next_halo = &halo_of_v;
    const double begin = MPI_Wtime();
    for (int i = 0; i < steps; ++i) {
      const double before = MPI_Wtime();
      halo->exchange();
      exchanging += MPI_Wtime() - before;
      step(b, u, v);
      std::swap(u, v);
      std::swap(halo, next_halo);  // A plan stays with the memory that it was made for.
    }
    seconds = MPI_Wtime() - begin;
  }  // The plans, the grid and the team end here, before MPI_Finalize.

  print_result("jacobi_longshore", b, u, steps, seconds, exchanging);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
}

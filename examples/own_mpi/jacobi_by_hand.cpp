// Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.
// jacobi_longshore.cpp is the same program with Longshore in place of the exchange.
//
//     mpirun -n 4 jacobi_by_hand 37 30 26 10      37 x 30 x 26 cells, 10 steps
#include "jacobi.hpp"

#include <utility>
#include <vector>

namespace {

/// Fills the halo along x, then y, then z. Later messages include the halo that was received
/// before, so edges and corners need no messages of their own.
void exchange(const block& b, std::vector<double>& u, std::vector<double> buffers[4]) {
  int low[3] = {0, 0, 0}, high[3] = {b.cells[0], b.cells[1], b.cells[2]};
  for (int d = 0; d < 3; ++d) {
    const int n = b.cells[d];
    const int out[2] = {0, n - width}, in[2] = {-width, n};  // first cells, below and above
    int neighbours[2], requests_made = 0;
    MPI_Request requests[4];
    MPI_Cart_shift(b.cart, d, 1, &neighbours[0], &neighbours[1]);
    int count = width;
    for (int e = 0; e < 3; ++e) count *= e == d ? 1 : high[e] - low[e];
    for (int side = 0; side < 2; ++side) {
      if (neighbours[side] == MPI_PROC_NULL) continue;
      std::vector<double>&outgoing = buffers[side], &incoming = buffers[2 + side];
      outgoing.resize(count), incoming.resize(count);
      MPI_Irecv(incoming.data(), count, MPI_DOUBLE, neighbours[side], 1 - side, b.cart,
                &requests[requests_made++]);
      double* next = outgoing.data();
      low[d] = out[side], high[d] = out[side] + width;
      for_each_cell(b, low, high, [&](std::ptrdiff_t cell) { *next++ = u[cell]; });
      MPI_Isend(outgoing.data(), count, MPI_DOUBLE, neighbours[side], side, b.cart,
                &requests[requests_made++]);
    }
    MPI_Waitall(requests_made, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side) {
      if (neighbours[side] == MPI_PROC_NULL) continue;
      const double* next = buffers[2 + side].data();
      low[d] = in[side], high[d] = in[side] + width;
      for_each_cell(b, low, high, [&](std::ptrdiff_t cell) { u[cell] = *next++; });
    }
    low[d] = -width, high[d] = n + width;  // the next dimension includes this halo
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto argument = [&](int i, int value) { return argc > i ? std::atoi(argv[i]) : value; };
  const int domain[3] = {argument(1, 37), argument(2, 30), argument(3, 26)};
  const int steps = argument(4, 10);
  block b = make_block(domain);
  std::vector<double> u = first_values(b), v(b.size());

  std::vector<double> buffers[4];
  double exchanging = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    const double before = MPI_Wtime();
    exchange(b, u, buffers);
    exchanging += MPI_Wtime() - before;
    step(b, u, v);
    std::swap(u, v);
  }
  const double seconds = MPI_Wtime() - begin;

  print_result("jacobi_by_hand", b, u, steps, seconds, exchanging);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
}

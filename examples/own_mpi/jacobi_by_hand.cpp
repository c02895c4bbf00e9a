// Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.
// jacobi_longshore.cpp is the same program with Longshore in place of the exchange.
//
// The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
// a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z
// all values are 0.
//
//     mpirun -n 4 jacobi_by_hand 37 30 26 10      37 x 30 x 26 cells, 10 steps
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

constexpr int width = 2;  // of the halo

/// The block of this rank: its position in the domain, and its cells along x, y, z.
struct block {
  MPI_Comm cart = MPI_COMM_NULL;
  int first[3] = {}, cells[3] = {};

  [[nodiscard]] std::ptrdiff_t row() const { return cells[0] + 2 * width; }
  [[nodiscard]] std::ptrdiff_t plane() const { return row() * (cells[1] + 2 * width); }
  [[nodiscard]] std::ptrdiff_t size() const { return plane() * (cells[2] + 2 * width); }
  /// The position of a cell in memory. The halo has coordinates below 0, and from cells[d] on.
  [[nodiscard]] std::ptrdiff_t at(int x, int y, int z) const {
    return (z + width) * plane() + (y + width) * row() + x + width;
  }
};

block make_block(const int domain[3]) {
  block b;
  int ranks = 0, shape[3] = {}, periods[3] = {1, 1, 0}, position[3];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, shape);
  MPI_Cart_create(MPI_COMM_WORLD, 3, shape, periods, 0, &b.cart);
  MPI_Cart_get(b.cart, 3, shape, periods, position);
  for (int d = 0; d < 3; ++d) {  // With a remainder, the first ranks get one cell more.
    const int share = domain[d] / shape[d], rest = domain[d] % shape[d];
    b.cells[d] = share + (position[d] < rest ? 1 : 0);
    b.first[d] = position[d] * share + (position[d] < rest ? position[d] : rest);
    if (share < width) {
      std::fprintf(stderr, "%d cells are too few for %d ranks: give %d or more\n", domain[d],
                   shape[d], shape[d] * width);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  return b;
}

/// Calls visit(cell) for each cell from low to high - 1.
template <class Visit>
void for_each_cell(const block& b, const int low[3], const int high[3], Visit visit) {
  for (int z = low[2]; z < high[2]; ++z)
    for (int y = low[1]; y < high[1]; ++y)
      for (int x = low[0]; x < high[0]; ++x) visit(b.at(x, y, z));
}

/// Fills the halo along x, then y, then z. Later messages include the halo that was received before:
/// so edges and corners need no messages of their own.
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

/// One step from u to v.
void step(const block& b, const std::vector<double>& u, std::vector<double>& v) {
  const int low[3] = {0, 0, 0};
  const std::ptrdiff_t X = 1, Y = b.row(), Z = b.plane(), D = width * (Y + Z), E = width * (Z - Y);
  for_each_cell(b, low, b.cells, [&](std::ptrdiff_t i) {
    const double faces = u[i - X] + u[i + X] + u[i - Y] + u[i + Y] + u[i - Z] + u[i + Z];
    const double corners = u[i - D - width] + u[i - D + width] + u[i + D - width] +
                           u[i + D + width] + u[i - E - width] + u[i - E + width] +
                           u[i + E - width] + u[i + E + width];
    v[i] = 0.4 * u[i] + 0.05 * faces + 0.0375 * corners;
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto argument = [&](int i, int value) { return argc > i ? std::atoi(argv[i]) : value; };
  const int domain[3] = {argument(1, 37), argument(2, 30), argument(3, 26)};
  const int steps = argument(4, 10);
  block b = make_block(domain);
  std::vector<double> u(b.size()), v(b.size());
  for (int z = 0; z < b.cells[2]; ++z)
    for (int y = 0; y < b.cells[1]; ++y)
      for (int x = 0; x < b.cells[0]; ++x)
        u[b.at(x, y, z)] =
            (7 * (b.first[0] + x) + 13 * (b.first[1] + y) + 29 * (b.first[2] + z)) % 17;

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

  double sum = 0;
  const int low[3] = {0, 0, 0};
  for_each_cell(b, low, b.cells, [&](std::ptrdiff_t i) { sum += u[i] * u[i]; });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, b.cart);
  int rank = 0;
  MPI_Comm_rank(b.cart, &rank);
  if (rank == 0)
    std::printf("jacobi_by_hand: checksum=%.9e step=%.1f us exchange=%.1f us\n", sum,
                1e6 * seconds / steps, 1e6 * exchanging / steps);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
}

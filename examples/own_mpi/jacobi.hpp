// The common parts of jacobi_by_hand.cpp and jacobi_longshore.cpp: the block of a rank, a step, and
// the result. The two programs differ in the halo exchange.
//
// The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
// a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z all
// values are 0.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline constexpr int width = 2;  // of the halo

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

inline block make_block(const int domain[3]) {
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

/// The values before the first step.
inline std::vector<double> first_values(const block& b) {
  std::vector<double> u(b.size());
  for (int z = 0; z < b.cells[2]; ++z)
    for (int y = 0; y < b.cells[1]; ++y)
      for (int x = 0; x < b.cells[0]; ++x)
        u[b.at(x, y, z)] =
            (7 * (b.first[0] + x) + 13 * (b.first[1] + y) + 29 * (b.first[2] + z)) % 17;
  return u;
}

/// One step from u to v.
inline void step(const block& b, const std::vector<double>& u, std::vector<double>& v) {
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

/// Prints the sum of all squares, and the mean times of a step and of an exchange.
inline void print_result(const char* program, const block& b, const std::vector<double>& u,
                         int steps, double seconds, double exchanging) {
  double sum = 0;
  int rank = 0;
  const int low[3] = {0, 0, 0};
  for_each_cell(b, low, b.cells, [&](std::ptrdiff_t i) { sum += u[i] * u[i]; });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, b.cart);
  MPI_Comm_rank(b.cart, &rank);
  if (rank == 0)
    std::printf("%s: checksum=%.9e step=%.1f us exchange=%.1f us\n", program, sum,
                1e6 * seconds / steps, 1e6 * exchanging / steps);
}

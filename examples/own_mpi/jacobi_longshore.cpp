// Jacobi steps on a grid of cells, with Longshore in place of the halo exchange of
// jacobi_by_hand.cpp. The rest of the program is the same.
//
// The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
// a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z
// all values are 0.
//
//     mpirun -n 4 jacobi_longshore 37 30 26 10      37 x 30 x 26 cells, 10 steps
#include <longshore/longshore.hpp>
#include <longshore/mpi.hpp>

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
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

/// Describes the memory that a plan exchanges.
longshore::field_view<double> view(const block& b, std::vector<double>& u) {
  const std::array<std::size_t, 3> cells{std::size_t(b.cells[0]), std::size_t(b.cells[1]),
                                         std::size_t(b.cells[2])};
  return {&u[b.at(0, 0, 0)], cells, {1, b.row(), b.plane()}, width};
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

  double sum = 0;
  const int low[3] = {0, 0, 0};
  for_each_cell(b, low, b.cells, [&](std::ptrdiff_t i) { sum += u[i] * u[i]; });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, b.cart);
  int rank = 0;
  MPI_Comm_rank(b.cart, &rank);
  if (rank == 0)
    std::printf("jacobi_longshore: checksum=%.9e step=%.1f us exchange=%.1f us\n", sum,
                1e6 * seconds / steps, 1e6 * exchanging / steps);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
}

/* Jacobi steps on a grid of cells, with Longshore in place of the halo exchange of
 * jacobi_by_hand.c. The rest of the program is the same.
 *
 * The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
 * a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z
 * all values are 0.
 *
 *     mpirun -n 4 jacobi_longshore 37 30 26 10      37 x 30 x 26 cells, 10 steps */
#include <longshore_mpi.h>

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { width = 2 }; /* of the halo */

/* The block of this rank: its position in the domain, and its cells along x, y, z. */
struct block {
  MPI_Comm cart;
  int first[3], cells[3];
  ptrdiff_t row, plane, size; /* in elements, with the halo */
};

/* The position of a cell in memory. The halo has coordinates below 0, and from cells[d] on. */
static ptrdiff_t at(const struct block* b, int x, int y, int z) {
  return (z + width) * b->plane + (y + width) * b->row + x + width;
}

static struct block make_block(const int domain[3]) {
  struct block b;
  int ranks, shape[3] = {0, 0, 0}, periods[3] = {1, 1, 0}, position[3];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, shape);
  MPI_Cart_create(MPI_COMM_WORLD, 3, shape, periods, 0, &b.cart);
  MPI_Cart_get(b.cart, 3, shape, periods, position);
  for (int d = 0; d < 3; ++d) { /* With a remainder, the first ranks get one cell more. */
    const int share = domain[d] / shape[d], rest = domain[d] % shape[d];
    b.cells[d] = share + (position[d] < rest ? 1 : 0);
    b.first[d] = position[d] * share + (position[d] < rest ? position[d] : rest);
    if (share < width) {
      fprintf(stderr, "%d cells are too few for %d ranks: give %d or more\n", domain[d], shape[d],
              shape[d] * width);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  b.row = b.cells[0] + 2 * width;
  b.plane = b.row * (b.cells[1] + 2 * width);
  b.size = b.plane * (b.cells[2] + 2 * width);
  return b;
}

/* Ends all ranks with a message if a call of Longshore failed. */
static void check(int code) {
  if (code != LONGSHORE_OK) longshore_end(code);
}

/* Makes the plan that exchanges the memory u. */
static longshore_halo* make_plan(const struct block* b, const longshore_grid* grid, double* u) {
  const int64_t cells[3] = {b->cells[0], b->cells[1], b->cells[2]};
  const int widths[3] = {width, width, width};
  struct longshore_field field;
  longshore_halo* plan = NULL;
  longshore_field_dense(&field, u, LONGSHORE_FLOAT64, cells, widths, widths);
  check(longshore_halo_create(grid, NULL, &field, 1, &plan));
  return plan;
}

/* One step from u to v. */
static void step(const struct block* b, const double* u, double* v) {
  const ptrdiff_t X = 1, Y = b->row, Z = b->plane, D = width * (Y + Z), E = width * (Z - Y);
  for (int z = 0; z < b->cells[2]; ++z)
    for (int y = 0; y < b->cells[1]; ++y)
      for (ptrdiff_t i = at(b, 0, y, z); i < at(b, b->cells[0], y, z); ++i) {
        const double faces = u[i - X] + u[i + X] + u[i - Y] + u[i + Y] + u[i - Z] + u[i + Z];
        const double corners = u[i - D - width] + u[i - D + width] + u[i + D - width] +
                               u[i + D + width] + u[i - E - width] + u[i - E + width] +
                               u[i + E - width] + u[i + E + width];
        v[i] = 0.4 * u[i] + 0.05 * faces + 0.0375 * corners;
      }
}

static int argument(int argc, char** argv, int i, int value) {
  return argc > i ? atoi(argv[i]) : value;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int domain[3] = {argument(argc, argv, 1, 37), argument(argc, argv, 2, 30),
                         argument(argc, argv, 3, 26)};
  const int steps = argument(argc, argv, 4, 10);
  struct block b = make_block(domain);
  double* u = calloc((size_t)b.size, sizeof(double));
  double* v = calloc((size_t)b.size, sizeof(double));
  if (u == NULL || v == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int z = 0; z < b.cells[2]; ++z)
    for (int y = 0; y < b.cells[1]; ++y)
      for (int x = 0; x < b.cells[0]; ++x)
        u[at(&b, x, y, z)] =
            (7 * (b.first[0] + x) + 13 * (b.first[1] + y) + 29 * (b.first[2] + z)) % 17;

  longshore_team* team = NULL;
  longshore_grid* grid = NULL;
  check(longshore_join(b.cart, NULL, &team));
  check(longshore_grid_create_cart(team, b.cart, NULL, &grid));
  longshore_halo *halo = make_plan(&b, grid, u), *next_halo = make_plan(&b, grid, v);
  double exchanging = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    const double before = MPI_Wtime();
    check(longshore_halo_exchange(halo));
    exchanging += MPI_Wtime() - before;
    step(&b, u, v);
    double* const other = u;
    u = v, v = other;
    longshore_halo* const other_halo = halo; /* A plan stays with the memory it was made for. */
    halo = next_halo, next_halo = other_halo;
  }
  const double seconds = MPI_Wtime() - begin;
  check(longshore_finalize(team)); /* also frees the plans and the grid */

  double sum = 0;
  for (int z = 0; z < b.cells[2]; ++z)
    for (int y = 0; y < b.cells[1]; ++y)
      for (int x = 0; x < b.cells[0]; ++x) sum += u[at(&b, x, y, z)] * u[at(&b, x, y, z)];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, b.cart);
  int rank;
  MPI_Comm_rank(b.cart, &rank);
  if (rank == 0)
    printf("jacobi_longshore: checksum=%.9e step=%.1f us exchange=%.1f us\n", sum,
           1e6 * seconds / steps, 1e6 * exchanging / steps);
  free(u);
  free(v);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
  return 0;
}

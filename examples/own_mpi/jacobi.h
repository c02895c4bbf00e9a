/* The common parts of jacobi_by_hand.c and jacobi_longshore.c: the block of a rank, a step, and the
 * result. The two programs differ in the halo exchange.
 *
 * The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
 * a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z all
 * values are 0. */
#ifndef JACOBI_H
#define JACOBI_H

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

/* Allocates the memory of a block, filled with 0. */
static double* make_cells(const struct block* b) {
  double* const u = calloc((size_t)b->size, sizeof(double));
  if (u == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  return u;
}

/* Stores the values before the first step. */
static void set_cells(const struct block* b, double* u) {
  for (int z = 0; z < b->cells[2]; ++z)
    for (int y = 0; y < b->cells[1]; ++y)
      for (int x = 0; x < b->cells[0]; ++x)
        u[at(b, x, y, z)] =
            (7 * (b->first[0] + x) + 13 * (b->first[1] + y) + 29 * (b->first[2] + z)) % 17;
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

/* The number that the command line gives at position i; without one, `value`. */
static int argument(int argc, char** argv, int i, int value) {
  return argc > i ? atoi(argv[i]) : value;
}

/* Prints the sum of all squares, and the mean times of a step and of an exchange. */
static void print_result(const char* program, const struct block* b, const double* u, int steps,
                         double seconds, double exchanging) {
  double sum = 0;
  int rank;
  for (int z = 0; z < b->cells[2]; ++z)
    for (int y = 0; y < b->cells[1]; ++y)
      for (int x = 0; x < b->cells[0]; ++x) sum += u[at(b, x, y, z)] * u[at(b, x, y, z)];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, b->cart);
  MPI_Comm_rank(b->cart, &rank);
  if (rank == 0)
    printf("%s: checksum=%.9e step=%.1f us exchange=%.1f us\n", program, sum, 1e6 * seconds / steps,
           1e6 * exchanging / steps);
}

#endif

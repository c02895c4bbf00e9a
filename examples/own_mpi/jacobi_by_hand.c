/* Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.
 * jacobi_longshore.c is the same program with Longshore in place of the exchange.
 *
 * The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
 * a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z
 * all values are 0.
 *
 *     mpirun -n 4 jacobi_by_hand 37 30 26 10      37 x 30 x 26 cells, 10 steps */
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

/* Copies the cells from low to high - 1 to or from a buffer. */
static void copy(const struct block* b, double* u, const int low[3], const int high[3],
                 double* buffer, int pack) {
  for (int z = low[2]; z < high[2]; ++z)
    for (int y = low[1]; y < high[1]; ++y) {
      double* const row = &u[at(b, 0, y, z)];
      for (int x = low[0]; x < high[0]; ++x, ++buffer)
        if (pack)
          *buffer = row[x];
        else
          row[x] = *buffer;
    }
}

/* Fills the halo along x, then y, then z. Later messages include the halo that was received before:
 * so edges and corners need no messages of their own. `buffers` has memory for 4 messages of
 * `most` elements. */
static void exchange(const struct block* b, double* u, double* buffers, size_t most) {
  int low[3] = {0, 0, 0}, high[3] = {b->cells[0], b->cells[1], b->cells[2]};
  for (int d = 0; d < 3; ++d) {
    const int n = b->cells[d];
    const int out[2] = {0, n - width}, in[2] = {-width, n}; /* first cells, below and above */
    int neighbours[2], requests_made = 0, count = width;
    MPI_Request requests[4];
    MPI_Cart_shift(b->cart, d, 1, &neighbours[0], &neighbours[1]);
    for (int e = 0; e < 3; ++e) count *= e == d ? 1 : high[e] - low[e];
    for (int side = 0; side < 2; ++side) {
      if (neighbours[side] == MPI_PROC_NULL) continue;
      double *const outgoing = buffers + side * most, *const incoming = buffers + (2 + side) * most;
      MPI_Irecv(incoming, count, MPI_DOUBLE, neighbours[side], 1 - side, b->cart,
                &requests[requests_made++]);
      low[d] = out[side], high[d] = out[side] + width;
      copy(b, u, low, high, outgoing, 1);
      MPI_Isend(outgoing, count, MPI_DOUBLE, neighbours[side], side, b->cart,
                &requests[requests_made++]);
    }
    MPI_Waitall(requests_made, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side) {
      if (neighbours[side] == MPI_PROC_NULL) continue;
      low[d] = in[side], high[d] = in[side] + width;
      copy(b, u, low, high, buffers + (2 + side) * most, 0);
    }
    low[d] = -width, high[d] = n + width; /* the next dimension includes this halo */
  }
}

/* The elements of the largest message. */
static size_t largest_message(const struct block* b) {
  size_t most = 0;
  for (int d = 0; d < 3; ++d) {
    const size_t count = (size_t)(b->size / (b->cells[d] + 2 * width) * width);
    if (count > most) most = count;
  }
  return most;
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

  const size_t most = largest_message(&b);
  double* const buffers = malloc(4 * most * sizeof(double));
  if (buffers == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  double exchanging = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    const double before = MPI_Wtime();
    exchange(&b, u, buffers, most);
    exchanging += MPI_Wtime() - before;
    step(&b, u, v);
    double* const other = u;
    u = v, v = other;
  }
  const double seconds = MPI_Wtime() - begin;
  free(buffers);

  double sum = 0;
  for (int z = 0; z < b.cells[2]; ++z)
    for (int y = 0; y < b.cells[1]; ++y)
      for (int x = 0; x < b.cells[0]; ++x) sum += u[at(&b, x, y, z)] * u[at(&b, x, y, z)];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, b.cart);
  int rank;
  MPI_Comm_rank(b.cart, &rank);
  if (rank == 0)
    printf("jacobi_by_hand: checksum=%.9e step=%.1f us exchange=%.1f us\n", sum,
           1e6 * seconds / steps, 1e6 * exchanging / steps);
  free(u);
  free(v);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
  return 0;
}

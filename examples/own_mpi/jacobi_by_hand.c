/* Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.
 * jacobi_longshore.c is the same program with Longshore in place of the exchange.
 *
 *     mpirun -n 4 jacobi_by_hand 37 30 26 10      37 x 30 x 26 cells, 10 steps */
#include "jacobi.h"

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

/* Fills the halo along x, then y, then z. Later messages include the halo that was received before,
 * so edges and corners need no messages of their own. `buffers` has memory for 4 messages of `most`
 * elements. */
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

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int domain[3] = {argument(argc, argv, 1, 37), argument(argc, argv, 2, 30),
                         argument(argc, argv, 3, 26)};
  const int steps = argument(argc, argv, 4, 10);
  struct block b = make_block(domain);
  double *u = make_cells(&b), *v = make_cells(&b);
  set_cells(&b, u);

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

  print_result("jacobi_by_hand", &b, u, steps, seconds, exchanging);
  free(u);
  free(v);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
  return 0;
}

/* Jacobi steps on a grid of cells, with Longshore in place of the halo exchange of
 * jacobi_by_hand.c. The rest of the program, in jacobi.h, is the same.
 *
 *     mpirun -n 4 jacobi_longshore 37 30 26 10      37 x 30 x 26 cells, 10 steps */
#include <longshore_mpi.h>

#include "jacobi.h"

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

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int domain[3] = {argument(argc, argv, 1, 37), argument(argc, argv, 2, 30),
                         argument(argc, argv, 3, 26)};
  const int steps = argument(argc, argv, 4, 10);
  struct block b = make_block(domain);
  double *u = make_cells(&b), *v = make_cells(&b);
  set_cells(&b, u);

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

  print_result("jacobi_longshore", &b, u, steps, seconds, exchanging);
  free(u);
  free(v);
  MPI_Comm_free(&b.cart);
  MPI_Finalize();
  return 0;
}

/* A program that has started MPI itself exchanges a halo, by the tasks that the argument names. */
#include <longshore_mpi.h>

#include <stdio.h>

static int failed(int code) {
  if (code != LONGSHORE_OK) printf("joined: %s\n", longshore_error_message());
  fflush(stdout); /* before MPI_Abort */
  return code != LONGSHORE_OK;
}

int main(int argc, char** argv) {
  double u[4] = {-1, 2, 3, -1};
  const struct longshore_grid_options line = {.dimensions = 1};
  const struct longshore_halo_options options = {
      .width = 1, .tasks = argc > 1 ? argv[1] : NULL, .task_count = argc > 1 ? 2 : 0};
  const struct longshore_field field = {.type = LONGSHORE_FLOAT64,
                                        .first = u + 1,
                                        .extents = {2, 1, 1},
                                        .strides = {1, 2, 2},
                                        .low = {1},
                                        .high = {1}};
  longshore_team* team;
  longshore_grid* grid;
  longshore_halo* halo;
  MPI_Init(&argc, &argv);
  if (failed(longshore_join(MPI_COMM_WORLD, NULL, &team)) ||
      failed(longshore_grid_create(team, &line, &grid)) ||
      failed(longshore_halo_create(grid, &options, &field, 1, &halo)) ||
      failed(longshore_halo_exchange(halo)) || failed(longshore_finalize(team)))
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  puts(u[0] == 3 && u[3] == 2 ? "joined: right" : "joined: wrong");
  return 0;
}

/* Heat equation on a periodic cube, on any number of ranks, threads or MPI; the exchange goes on while the interior is computed. */
#include <longshore.h>

#include <stdio.h>

#define TRY(call)                             \
  do {                                        \
    const int code = (call);                  \
    if (code != LONGSHORE_OK) return code;    \
  } while (0)

enum { cells = 48, steps = 20 };

/* One step of the cells from `low` to `high` - 1. */
static void compute(const struct longshore_field* u, const struct longshore_field* v, const int64_t low[3], const int64_t high[3]) {
  const double* const from = u->first;
  double* const to = v->first;
  const int64_t Y = u->strides[1], Z = u->strides[2];
  for (int64_t z = low[2]; z < high[2]; ++z)
    for (int64_t y = low[1]; y < high[1]; ++y)
      for (int64_t x = low[0]; x < high[0]; ++x) {
        const double* const c = &from[x + y * Y + z * Z];
        to[x + y * Y + z * Z] = 0.4 * c[0] + 0.1 * (c[-1] + c[1] + c[-Y] + c[Y] + c[-Z] + c[Z]);
      }
}

static int solve(longshore_team* team, void* context) {
  (void)context;
  static const int one[3] = {1, 1, 1};
  longshore_grid* grid = NULL;
  longshore_halo* halo[2] = {NULL, NULL};
  struct longshore_field field[2];
  int64_t first[3], n[3];
  TRY(longshore_grid_create(team, NULL, &grid));
  for (int d = 0; d < 3; ++d) longshore_grid_piece(grid, d, cells, &first[d], &n[d]);
  for (int i = 0; i < 2; ++i) { /* from one field to the other and back: a plan for each */
    longshore_memory* memory = NULL;
    void* data = NULL;
    TRY(longshore_memory_create(team, sizeof(double) * (size_t)((n[0] + 2) * (n[1] + 2) * (n[2] + 2)), &memory, &data));
    longshore_field_dense(&field[i], data, LONGSHORE_FLOAT64, n, one, one);
    const struct longshore_halo_options options = {.reach = "faces"};
    TRY(longshore_halo_create(grid, &options, &field[i], 1, &halo[i]));
  }
  const int64_t hot[3] = {cells / 2 - first[0], cells / 2 - first[1], cells / 2 - first[2]};
  if (hot[0] >= 0 && hot[0] < n[0] && hot[1] >= 0 && hot[1] < n[1] && hot[2] >= 0 && hot[2] < n[2])
    ((double*)field[0].first)[hot[0] + hot[1] * field[0].strides[1] + hot[2] * field[0].strides[2]] = 1;

  for (int step = 0; step < steps; ++step) {
    const struct longshore_field *const u = &field[step % 2], *const v = &field[1 - step % 2];
    TRY(longshore_halo_start(halo[step % 2]));
    compute(u, v, (int64_t[]){1, 1, 1}, (int64_t[]){n[0] - 1, n[1] - 1, n[2] - 1});
    TRY(longshore_halo_wait(halo[step % 2]));
    for (int d = 0; d < 3; ++d) { /* the cells beside the halo */
      int64_t low[3] = {0, 0, 0}, high[3] = {n[0], n[1], n[2]};
      high[d] = 1;
      compute(u, v, low, high);
      low[d] = n[d] - 1;
      high[d] = n[d];
      compute(u, v, low, high);
    }
  }
  double total = 0;
  for (int64_t z = 0; z < n[2]; ++z)
    for (int64_t y = 0; y < n[1]; ++y)
      for (int64_t x = 0; x < n[0]; ++x)
        total += ((double*)field[steps % 2].first)[x + y * field[0].strides[1] + z * field[0].strides[2]];
  TRY(longshore_allreduce(team, &total, 1, LONGSHORE_FLOAT64, LONGSHORE_SUM));
  if (longshore_team_rank(team) == 0) printf("total heat %9.6f\n", total);
  return LONGSHORE_OK;
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, solve, NULL) == LONGSHORE_OK) return 0;
  fprintf(stderr, "heat: %s\n", longshore_error_message());
  return 1;
}

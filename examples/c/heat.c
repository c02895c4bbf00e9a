/* Solves the heat equation on a periodic cube, on any number of ranks.
 *
 * Each rank owns a box of cells. A cell needs its six neighbours, and some neighbours lie on other
 * ranks. A halo plan copies those cells into a border around the box. Meanwhile the rank computes
 * the interior, which needs no border.
 *
 * Verification: a cosine wave keeps its shape, and its height falls by a known factor per step. */
#include <longshore.h>

#include <math.h>
#include <stdio.h>

#define TRY(call)                          \
  do {                                     \
    const int code = (call);               \
    if (code != LONGSHORE_OK) return code; \
  } while (0)

enum { cells = 48, steps = 20 };
static const double angle = 2 * 3.14159265358979323846 / cells; /* phase of the wave per cell */

static double* cell(const struct longshore_field* u, int64_t x, int64_t y, int64_t z) {
  return (double*)u->first + x + y * u->strides[1] + z * u->strides[2];
}

static double wave(const int64_t first[3], int64_t x, int64_t y, int64_t z) {
  return cos(angle * (double)(first[0] + x)) * cos(angle * (double)(first[1] + y)) *
         cos(angle * (double)(first[2] + z));
}

/* One step of the cells from `low` to `high` - 1. */
static void compute(const struct longshore_field* u, const struct longshore_field* v,
                    const int64_t low[3], const int64_t high[3]) {
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
  for (int i = 0; i < 2; ++i) { /* Steps alternate between two fields. Each field has a plan. */
    longshore_memory* memory = NULL;
    void* data = NULL;
    TRY(longshore_memory_create(
        team, sizeof(double) * (size_t)((n[0] + 2) * (n[1] + 2) * (n[2] + 2)), &memory, &data));
    longshore_field_dense(&field[i], data, LONGSHORE_FLOAT64, n, one, one);
    const struct longshore_halo_options options = {.reach = "faces"};
    TRY(longshore_halo_create(grid, &options, &field[i], 1, &halo[i]));
  }
  for (int64_t z = 0; z < n[2]; ++z)
    for (int64_t y = 0; y < n[1]; ++y)
      for (int64_t x = 0; x < n[0]; ++x) *cell(&field[0], x, y, z) = wave(first, x, y, z);

  for (int step = 0; step < steps; ++step) {
    const struct longshore_field *const u = &field[step % 2], *const v = &field[1 - step % 2];
    TRY(longshore_halo_start(halo[step % 2]));
    compute(u, v, (int64_t[]){1, 1, 1}, (int64_t[]){n[0] - 1, n[1] - 1, n[2] - 1});
    TRY(longshore_halo_wait(halo[step % 2]));
    for (int d = 0; d < 3; ++d) { /* the cells that need the border */
      int64_t low[3] = {0, 0, 0}, high[3] = {n[0], n[1], n[2]};
      high[d] = 1;
      compute(u, v, low, high);
      low[d] = n[d] - 1;
      high[d] = n[d];
      compute(u, v, low, high);
    }
  }
  const double height = pow(0.4 + 0.6 * cos(angle), steps);
  double error = 0;
  for (int64_t z = 0; z < n[2]; ++z)
    for (int64_t y = 0; y < n[1]; ++y)
      for (int64_t x = 0; x < n[0]; ++x)
        error =
            fmax(error, fabs(*cell(&field[steps % 2], x, y, z) - height * wave(first, x, y, z)));
  TRY(longshore_allreduce(team, &error, 1, LONGSHORE_FLOAT64, LONGSHORE_MAX));
  const int right = error < 1e-9;
  if (longshore_team_rank(team) == 0)
    printf("heat: ranks=%d steps=%d error=%.1e verified=%s\n", longshore_team_size(team), steps,
           error, right ? "yes" : "no");
  return right ? LONGSHORE_OK
               : longshore_fail(LONGSHORE_ERROR_PROGRAM, "the height of the wave is wrong");
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, solve, NULL) == LONGSHORE_OK) return 0;
  fprintf(stderr, "heat: %s\n", longshore_error_message());
  return 1;
}

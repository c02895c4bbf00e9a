/* Pattern halo in C: fields, plan and exchange through the C interface of the library. */
#include "patterns/halo/language_interface.h"

#include <stdlib.h>

int longshore_bench_c_make(longshore_team* team, const struct longshore_bench_halo_setup* setup,
                           void** state, longshore_halo** plan, void** cells) {
  struct longshore_grid_options grid_options = {.placement = setup->placement,
                                                .periodic = setup->periodic};
  size_t count = 1;
  for (int d = 0; d < 3; ++d) {
    grid_options.ranks[d] = setup->ranks[d];
    count *= (size_t)(setup->extents[d] + 2 * setup->width);
  }
  longshore_grid* grid = NULL;
  int code = longshore_grid_create(team, &grid_options, &grid);
  if (code != LONGSHORE_OK) return code;
  struct longshore_field* const fields = calloc((size_t)setup->fields, sizeof *fields);
  if (fields == NULL)
    return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY,
                          "no memory for the fields of a measurement");
  const int widths[3] = {setup->width, setup->width, setup->width};
  const int type = setup->is_single ? LONGSHORE_FLOAT32 : LONGSHORE_FLOAT64;
  for (int f = 0; f < setup->fields && code == LONGSHORE_OK; ++f) {
    longshore_memory* memory = NULL;
    void* data = NULL;
    code = longshore_memory_create(team, count * longshore_type_bytes(type), &memory, &data);
    if (code == LONGSHORE_OK)
      longshore_field_dense(&fields[f], data, type, setup->extents, widths, widths);
    cells[f] = fields[f].first;
  }
  const struct longshore_halo_options options = {.algorithm = setup->algorithm,
                                                 .mode = setup->mode,
                                                 .reach = setup->reach,
                                                 .tasks = setup->tasks,
                                                 .task_count = setup->task_count};
  if (code == LONGSHORE_OK)
    code = longshore_halo_create(grid, &options, fields, setup->fields, plan);
  free(fields);
  *state = *plan;
  return code;
}

int longshore_bench_c_exchange(void* state) { return longshore_halo_exchange(state); }

/* Pattern halo in C: the fields, their values, the exchange and the check of every cell, by the C face of the library. */
#include "patterns/halo/halo_setup.h"

#include <stdlib.h>

struct state {
  struct longshore_bench_halo_setup setup;
  struct longshore_field* fields;
  longshore_halo* plan;
  int64_t first[3], all[3]; /* where this rank's block begins, and cells of the whole domain */
  int64_t tag;
};

int longshore_bench_c_make(longshore_team* team, const struct longshore_bench_halo_setup* setup, void** made,
                           longshore_halo** plan) {
  struct state* const state = calloc(1, sizeof *state);
  if (state == NULL) return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for the state of a measurement");
  *made = state;
  state->setup = *setup;
  state->fields = calloc((size_t)setup->fields, sizeof *state->fields);
  if (state->fields == NULL) return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for the fields of a measurement");
  struct longshore_grid_options grid_options = {.placement = setup->placement};
  for (int d = 0; d < 3; ++d) {
    grid_options.ranks[d] = setup->ranks[d];
    grid_options.open[d] = !setup->periodic[d];
  }
  longshore_grid* grid = NULL;
  int code = longshore_grid_create(team, &grid_options, &grid);
  if (code != LONGSHORE_OK) return code;
  int at[3];
  longshore_grid_coordinates(grid, at);
  size_t cells = 1;
  for (int d = 0; d < 3; ++d) {
    state->first[d] = at[d] * setup->extents[d];
    state->all[d] = setup->ranks[d] * setup->extents[d];
    cells *= (size_t)(setup->extents[d] + 2 * setup->width);
  }
  const int widths[3] = {setup->width, setup->width, setup->width};
  const int type = setup->is_single ? LONGSHORE_FLOAT32 : LONGSHORE_FLOAT64;
  for (int f = 0; f < setup->fields; ++f) {
    longshore_memory* memory = NULL;
    void* data = NULL;
    code = longshore_memory_create(team, cells * longshore_type_bytes(type), &memory, &data);
    if (code != LONGSHORE_OK) return code;
    longshore_field_dense(&state->fields[f], data, type, setup->extents, widths, widths);
  }
  const struct longshore_halo_options options = {.algorithm = setup->algorithm,
                                                 .mode = setup->mode,
                                                 .reach = setup->reach,
                                                 .tasks = setup->tasks,
                                                 .task_count = setup->task_count};
  code = longshore_halo_create(grid, &options, state->fields, setup->fields, &state->plan);
  *plan = state->plan;
  return code;
}

/* Of a cell of the domain, exact in a float: neighbours differ, and fields, and exchanges. */
static double value_of(int64_t tag, int64_t x, int64_t y, int64_t z) {
  return (double)((tag * 7919 + x + 1021 * (y + 1021 * z)) % 16777213);
}

/* Walks all cells of a field and gives them their values, as before an exchange (0 moves), or counts those that do not have them. */
static int64_t walk(struct state* state, int f, int store, int most_moves) {
  const struct longshore_bench_halo_setup* const setup = &state->setup;
  const struct longshore_field* const field = &state->fields[f];
  const int64_t w = setup->width;
  int64_t wrong = 0;
  for (int64_t z = -w; z < setup->extents[2] + w; ++z)
    for (int64_t y = -w; y < setup->extents[1] + w; ++y)
      for (int64_t x = -w; x < setup->extents[0] + w; ++x) {
        const int64_t index[3] = {x, y, z};
        int64_t there[3];
        int moves = 0, is_beyond = 0;
        for (int d = 0; d < 3; ++d) {
          moves += index[d] < 0 || index[d] >= setup->extents[d];
          there[d] = state->first[d] + index[d];
          is_beyond |= !setup->periodic[d] && (there[d] < 0 || there[d] >= state->all[d]);
          there[d] = (there[d] + state->all[d]) % state->all[d];
        }
        const int is_filled = !is_beyond && moves <= most_moves;
        const double expected = is_filled ? value_of(state->tag + f, there[0], there[1], there[2]) : -1;
        const int64_t cell = x + y * field->strides[1] + z * field->strides[2];
        if (setup->is_single) {
          if (store) ((float*)field->first)[cell] = (float)expected;
          wrong += ((float*)field->first)[cell] != (float)expected;
        } else {
          if (store) ((double*)field->first)[cell] = expected;
          wrong += ((double*)field->first)[cell] != expected;
        }
      }
  return wrong;
}

void longshore_bench_c_reset(void* made, int64_t tag) {
  struct state* const state = made;
  state->tag = tag;
  for (int f = 0; f < state->setup.fields; ++f) walk(state, f, 1, 0);
}

int longshore_bench_c_exchange(void* made) { return longshore_halo_exchange(((struct state*)made)->plan); }

int64_t longshore_bench_c_wrong(void* made, int32_t most_moves) {
  struct state* const state = made;
  int64_t wrong = 0;
  for (int f = 0; f < state->setup.fields; ++f) wrong += walk(state, f, 0, most_moves);
  return wrong;
}

void longshore_bench_c_end(void* made) {
  struct state* const state = made;
  if (state == NULL) return;
  free(state->fields);
  free(state);
}

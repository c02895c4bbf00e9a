/* The parts of pattern halo that are written in C and in Fortran. They make the fields and the
 * plan, and call the exchange. */
#ifndef LONGSHORE_BENCH_LANGUAGE_INTERFACE_H
#define LONGSHORE_BENCH_LANGUAGE_INTERFACE_H

#include <longshore.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every rank has `fields` fields of `extents` cells. Arrays are in the order x, y, z. */
struct longshore_bench_halo_setup {
  int64_t extents[3];
  int32_t ranks[3]; /* the grid */
  int32_t periodic[3];
  int32_t width; /* of the halo on every side */
  int32_t fields;
  int32_t is_single;  /* 1: float, 0: double */
  int32_t task_count; /* 0: the rank's share of the cores */
  char placement[16], algorithm[32], mode[32], reach[16], tasks[16]; /* zero-terminated */
};

/* One language. Codes are those of longshore.h. */
struct longshore_bench_halo_language {
  /* Makes the plan and dense fields. cells[i] becomes the first interior cell of field i. `state`
   * is for the other calls, and is set also when this one fails. */
  int (*make)(longshore_team* team, const struct longshore_bench_halo_setup* setup, void** state,
              longshore_halo** plan, void** cells);
  int (*exchange)(void* state);
  /* Frees the state; NULL: nothing to free. The team's handle frees all objects of the library. */
  void (*end)(void* state);
};

int longshore_bench_c_make(longshore_team* team, const struct longshore_bench_halo_setup* setup,
                           void** state, longshore_halo** plan, void** cells);
int longshore_bench_c_exchange(void* state);

int longshore_bench_fortran_make(longshore_team* team,
                                 const struct longshore_bench_halo_setup* setup, void** state,
                                 longshore_halo** plan, void** cells);
int longshore_bench_fortran_exchange(void* state);
void longshore_bench_fortran_end(void* state);

#ifdef __cplusplus
}
#endif

#endif

/* The functions of pattern halo that are written in C and in Fortran. They make the fields and the
 * plan, and call the exchange. */
#ifndef LONGSHORE_BENCH_LANGUAGE_INTERFACE_H
#define LONGSHORE_BENCH_LANGUAGE_INTERFACE_H

#include <longshore.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every rank has `fields` fields of `extents` cells. Arrays are in the order x, y, z. The type
 * halo_setup of fields_in_fortran.f90 repeats this layout, and no compiler compares the two. */
struct longshore_bench_halo_setup {
  int64_t extents[3];
  int32_t ranks[3]; /* the shape of the grid */
  int32_t periodic[3];
  int32_t width; /* of the halo on every side */
  int32_t fields;
  int32_t is_single;  /* 1 for cells of type float, 0 for double */
  int32_t task_count; /* 0 for the rank's share of the cores */
  char placement[16], algorithm[32], mode[32], reach[16], tasks[16]; /* zero-terminated */
};

/* The functions of one language. They return the codes of longshore.h. */
struct longshore_bench_halo_language {
  /* Makes the plan and dense fields. cells[i] becomes the first interior cell of field i. `*state`
   * is the argument of exchange and end. If make fails, neither is called. */
  int (*make)(longshore_team* team, const struct longshore_bench_halo_setup* setup, void** state,
              longshore_halo** plan, void** cells);
  int (*exchange)(void* state);
  /* Frees the state. NULL if there is nothing to free: the objects of the library belong to the
   * team's handle. */
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

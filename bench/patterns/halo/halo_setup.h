/* What a part of the benchmark in another language is told of a variant of halo, and what it does. */
#ifndef LONGSHORE_BENCH_HALO_SETUP_H
#define LONGSHORE_BENCH_HALO_SETUP_H

#include <longshore.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fields of as many cells on each rank, all alike. Arrays are in the order x, y, z. */
struct longshore_bench_halo_setup {
  int64_t extents[3];
  int32_t ranks[3]; /* the grid */
  int32_t periodic[3];
  int32_t width; /* of the halo on every side */
  int32_t fields;
  int32_t is_single;                                                 /* float, else double */
  int32_t task_count;                                                /* 0: its share of the cores */
  char placement[16], algorithm[32], mode[32], reach[16], tasks[16]; /* texts with a zero at the end */
};

/* The four things that are done with it; the first gives a state that the others take, and the plan. Codes are those of longshore.h. */
struct longshore_bench_halo_language {
  int (*make)(longshore_team* team, const struct longshore_bench_halo_setup* setup, void** state, longshore_halo** plan);
  void (*reset)(void* state, int64_t tag); /* new values in all cells, none in the halo */
  int (*exchange)(void* state);
  /* Cells, interior and halo, that are not as they should be. The halo is filled through as many moves: 1 faces, 2 edges, 3 corners. */
  int64_t (*wrong)(void* state, int32_t most_moves);
  void (*end)(void* state); /* of its own memory; what it made of the library ends with the team's handle */
};

int longshore_bench_c_make(longshore_team* team, const struct longshore_bench_halo_setup* setup, void** state,
                           longshore_halo** plan);
void longshore_bench_c_reset(void* state, int64_t tag);
int longshore_bench_c_exchange(void* state);
int64_t longshore_bench_c_wrong(void* state, int32_t most_moves);
void longshore_bench_c_end(void* state);

int longshore_bench_fortran_make(longshore_team* team, const struct longshore_bench_halo_setup* setup, void** state,
                                 longshore_halo** plan);
void longshore_bench_fortran_reset(void* state, int64_t tag);
int longshore_bench_fortran_exchange(void* state);
int64_t longshore_bench_fortran_wrong(void* state, int32_t most_moves);
void longshore_bench_fortran_end(void* state);

#ifdef __cplusplus
}
#endif

#endif

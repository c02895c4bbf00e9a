/* Sorts random numbers over all ranks and checks that each follows the one before. */
#include <longshore.h>

#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                             \
  do {                                        \
    const int code = (call);                  \
    if (code != LONGSHORE_OK) return code;    \
  } while (0)

static int sort_numbers(longshore_team* team, void* context) {
  (void)context;
  enum { n = 100000 };
  uint32_t* keys = malloc(n * sizeof *keys);
  if (keys == NULL) return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for the keys");
  uint32_t state = 12345U + (uint32_t)longshore_team_rank(team);
  for (int i = 0; i < n; ++i) keys[i] = state = state * 1664525U + 1013904223U;

  longshore_sorter* sorter = NULL;
  int64_t count[2] = {0, 0}; /* of keys, and of keys in the wrong place */
  TRY(longshore_sorter_create(team, LONGSHORE_UINT32, 0, NULL, &sorter));
  TRY(longshore_sorter_run(sorter, keys, NULL, n, &count[0]));
  uint32_t* const room = realloc(keys, ((size_t)count[0] + 1) * sizeof *keys);
  if (room == NULL) return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for the keys");
  keys = room;
  TRY(longshore_sorter_result(sorter, keys, NULL));
  for (int64_t i = 1; i < count[0]; ++i) count[1] += keys[i] < keys[i - 1];
  TRY(longshore_allreduce(team, count, 2, LONGSHORE_INT64, LONGSHORE_SUM));
  if (longshore_team_rank(team) == 0)
    printf("%lld keys per rank, %lld in the wrong place\n", (long long)count[0] / longshore_team_size(team), (long long)count[1]);
  free(keys);
  return LONGSHORE_OK;
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, sort_numbers, NULL) == LONGSHORE_OK) return 0;
  fprintf(stderr, "sort: %s\n", longshore_error_message());
  return 1;
}

/* Sorts random numbers that are distributed over the ranks.
 *
 * After the sort, rank 0 holds the lowest keys, rank 1 the next keys, and so on. The sort changes
 * the number of keys of a rank, so the program asks for this number before it fetches the result.
 * The check compares neighbouring keys, also from rank to rank. */
#include <longshore.h>

#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                          \
  do {                                     \
    const int code = (call);               \
    if (code != LONGSHORE_OK) return code; \
  } while (0)

static int sort_numbers(longshore_team* team, void* context) {
  (void)context;
  enum { n = 100000 };
  uint32_t* keys = malloc(n * sizeof *keys);
  if (keys == NULL) return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for the keys");
  uint32_t state = 12345U + (uint32_t)longshore_team_rank(team);
  for (int i = 0; i < n; ++i) keys[i] = state = state * 1664525U + 1013904223U;

  longshore_sorter* sorter = NULL;
  int64_t count[2] = {0, 0}; /* the number of keys and the number of wrong positions */
  TRY(longshore_sorter_create(team, LONGSHORE_UINT32, 0, NULL, &sorter));
  TRY(longshore_sorter_run(sorter, keys, NULL, n, &count[0]));
  uint32_t* const resized = realloc(keys, ((size_t)count[0] + 1) * sizeof *keys);
  if (resized == NULL)
    return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for the keys");
  keys = resized;
  TRY(longshore_sorter_result(sorter, keys, NULL));
  for (int64_t i = 1; i < count[0]; ++i) count[1] += keys[i] < keys[i - 1];
  /* The lowest and the highest key of this rank, or -1 without keys. */
  const int64_t ends[2] = {count[0] > 0 ? (int64_t)keys[0] : -1,
                           count[0] > 0 ? (int64_t)keys[count[0] - 1] : -1};
  free(keys);
  const int ranks = longshore_team_size(team);
  int64_t* const all_ends = malloc((size_t)ranks * sizeof ends);
  if (all_ends == NULL)
    return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY,
                          "no memory for the lowest and highest keys");
  TRY(longshore_allgather(team, ends, sizeof ends, all_ends));
  TRY(longshore_allreduce(team, count, 2, LONGSHORE_INT64, LONGSHORE_SUM));
  int64_t highest = -1;
  for (int r = 0; r < ranks; ++r) {
    count[1] += all_ends[2 * r] >= 0 && all_ends[2 * r] < highest;
    if (all_ends[2 * r + 1] > highest) highest = all_ends[2 * r + 1];
  }
  free(all_ends);
  const int right = count[0] == (int64_t)n * ranks && count[1] == 0;
  if (longshore_team_rank(team) == 0)
    printf("sort: ranks=%d keys=%lld verified=%s\n", ranks, (long long)count[0],
           right ? "yes" : "no");
  return right ? LONGSHORE_OK
               : longshore_fail(LONGSHORE_ERROR_PROGRAM, "the keys are not in order");
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, sort_numbers, NULL) == LONGSHORE_OK) return 0;
  fprintf(stderr, "sort: %s\n", longshore_error_message());
  return 1;
}

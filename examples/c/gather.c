/* Reads random elements of a table that is too large for one rank (index gather).
 *
 * The table is a distributed array: each rank owns a block of its elements. A gather plan fetches
 * any list of elements in one call. The plan is made once and used three times. */
#include <longshore.h>

#include <stdio.h>

#define TRY(call)                          \
  do {                                     \
    const int code = (call);               \
    if (code != LONGSHORE_OK) return code; \
  } while (0)

static int read_elements(longshore_team* team, void* context) {
  (void)context;
  enum { requests = 10000 };
  const int64_t n = 1000 * (int64_t)longshore_team_size(team);
  longshore_array* table = NULL;
  TRY(longshore_array_create(team, LONGSHORE_FLOAT64, 0, n, "block", &table));
  double* const part = longshore_array_local(table);
  for (int64_t k = 0; k < longshore_array_local_size(table); ++k)
    part[k] = 0.5 * (double)longshore_array_index(table, k);
  TRY(longshore_barrier(team)); /* After the barrier, any rank may read all elements. */

  longshore_gather_plan* plan = NULL;
  /* NULL stands for the default options, with which Longshore chooses the strategy. */
  TRY(longshore_gather_create(table, NULL, &plan));
  int64_t indices[requests], wrong = 0;
  double values[requests];
  for (int64_t call = 0; call < 3; ++call) {
    for (int64_t i = 0; i < requests; ++i)
      indices[i] = (i * (7919 + call) + longshore_team_rank(team)) % n;
    TRY(longshore_gather_run(plan, indices, requests, values));
    for (int64_t i = 0; i < requests; ++i) wrong += values[i] != 0.5 * (double)indices[i];
  }
  TRY(longshore_allreduce(team, &wrong, 1, LONGSHORE_INT64, LONGSHORE_SUM));
  if (longshore_team_rank(team) == 0)
    printf("gather: ranks=%d requests=%d verified=%s\n", longshore_team_size(team), 3 * requests,
           wrong == 0 ? "yes" : "no");
  return wrong == 0 ? LONGSHORE_OK : longshore_fail(LONGSHORE_ERROR_PROGRAM, "wrong values");
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, read_elements, NULL) == LONGSHORE_OK) return 0;
  fprintf(stderr, "gather: %s\n", longshore_error_message());
  return 1;
}

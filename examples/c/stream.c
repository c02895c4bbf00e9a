/* Measures the memory bandwidth of all ranks with the STREAM triad, a = b + q * c.
 *
 * Each rank runs the loop on its own arrays. The best of ten trials counts. The program verifies
 * every element. */
#include <longshore.h>

#include <stdio.h>

#define TRY(call)                          \
  do {                                     \
    const int code = (call);               \
    if (code != LONGSHORE_OK) return code; \
  } while (0)

static int measure(longshore_team* team, void* context) {
  (void)context;
  longshore_stream* triad = NULL;
  TRY(longshore_stream_create(team, LONGSHORE_FLOAT64, 2000000, NULL, &triad));
  double seconds = 1e9;
  for (int trial = 0; trial < 10; ++trial) {
    TRY(longshore_barrier(team));
    const double began = longshore_team_seconds(team);
    TRY(longshore_stream_run(triad));
    TRY(longshore_barrier(team));
    const double took = longshore_team_seconds(team) - began;
    if (took < seconds) seconds = took;
  }
  int64_t wrong = longshore_stream_wrong(triad);
  TRY(longshore_allreduce(team, &seconds, 1, LONGSHORE_FLOAT64, LONGSHORE_MAX));
  TRY(longshore_allreduce(team, &wrong, 1, LONGSHORE_INT64, LONGSHORE_SUM));
  if (longshore_team_rank(team) == 0)
    printf("stream: ranks=%d gigabytes_per_second=%.1f verified=%s\n", longshore_team_size(team),
           1e-9 * longshore_team_size(team) * (double)longshore_stream_bytes(triad) / seconds,
           wrong == 0 ? "yes" : "no");
  return wrong == 0 ? LONGSHORE_OK : longshore_fail(LONGSHORE_ERROR_PROGRAM, "wrong elements");
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, measure, NULL) == LONGSHORE_OK) return 0;
  fprintf(stderr, "stream: %s\n", longshore_error_message());
  return 1;
}

/* Counts the pairs of neighbouring bytes in a file that all ranks read together.
 *
 * Each rank reads one part of the file. The 65536 counters are a distributed array, and one call
 * adds the pairs of the rank to counters on all ranks. */
#include <longshore.h>

#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                          \
  do {                                     \
    const int code = (call);               \
    if (code != LONGSHORE_OK) return code; \
  } while (0)

static int count_pairs(longshore_team* team, void* context) {
  FILE* const file = fopen(context, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0)
    return longshore_fail(LONGSHORE_ERROR_USAGE, "the file cannot be read");
  const int64_t pairs = ftell(file) - 1, rank = longshore_team_rank(team),
                ranks = longshore_team_size(team);
  if (pairs < 1) return longshore_fail(LONGSHORE_ERROR_USAGE, "the file has fewer than two bytes");
  const int64_t first = rank * pairs / ranks, mine = (rank + 1) * pairs / ranks - first;
  unsigned char* const bytes = malloc((size_t)mine + 1);
  int64_t* const indices = malloc(((size_t)mine + 1) * sizeof *indices);
  if (bytes == NULL || indices == NULL)
    return longshore_fail(LONGSHORE_ERROR_OUT_OF_MEMORY, "no memory for a part of the file");
  if (fseek(file, first, SEEK_SET) != 0 ||
      fread(bytes, 1, (size_t)mine + 1, file) != (size_t)mine + 1)
    return longshore_fail(LONGSHORE_ERROR_USAGE, "the file cannot be read");
  fclose(file);
  for (int64_t k = 0; k < mine; ++k) indices[k] = 256 * bytes[k] + bytes[k + 1];

  longshore_array* table = NULL;
  TRY(longshore_array_create(team, LONGSHORE_INT64, 0, 65536, "cyclic", &table));
  TRY(longshore_histogram(table, indices, mine, NULL, NULL));
  TRY(longshore_barrier(team));
  const int64_t* const counts = longshore_array_local(table);
  int64_t found[2] = {0, 0}; /* the number of pairs and the number of different pairs */
  for (int64_t k = 0; k < longshore_array_local_size(table); ++k)
    found[0] += counts[k], found[1] += counts[k] > 0;
  TRY(longshore_allreduce(team, found, 2, LONGSHORE_INT64, LONGSHORE_SUM));
  const int right = found[0] == pairs;
  if (rank == 0)
    printf("histogram: ranks=%lld pairs=%lld different=%lld verified=%s\n", (long long)ranks,
           (long long)found[0], (long long)found[1], right ? "yes" : "no");
  free(indices);
  free(bytes);
  return right ? LONGSHORE_OK : longshore_fail(LONGSHORE_ERROR_PROGRAM, "pairs were lost");
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: histogram FILE\n");
    return 2;
  }
  if (longshore_run(argc, argv, count_pairs, argv[1]) == LONGSHORE_OK) return 0;
  fprintf(stderr, "histogram: %s\n", longshore_error_message());
  return 1;
}

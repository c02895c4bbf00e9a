/* All ranks add up their numbers. Rank 0 prints the sum, and on how many ranks it is wrong. */
#include <longshore.h>

#include <stdio.h>

static int add_up(longshore_team* team, void* context) {
  (void)context;
  const int64_t rank = longshore_team_rank(team), size = longshore_team_size(team);
  int64_t sum = rank;
  int code = longshore_allreduce(team, &sum, 1, LONGSHORE_INT64, LONGSHORE_SUM);
  if (code != LONGSHORE_OK) return code;
  int64_t wrong = sum != size * (size - 1) / 2;
  code = longshore_allreduce(team, &wrong, 1, LONGSHORE_INT64, LONGSHORE_SUM);
  if (rank == 0)
    printf("%d ranks on %s: sum %d, wrong %d\n", (int)size, longshore_team_transport(team),
           (int)sum, (int)wrong);
  return code;
}

int main(int argc, char** argv) { return longshore_run(argc, argv, add_up, NULL); }

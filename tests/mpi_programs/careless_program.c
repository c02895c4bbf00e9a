/* A C program that ignores errors. The argument says which: "join", a communicator of which no team
 * can be made; "size", the same, and a call that returns no code; "late", the end of a team after
 * the end of MPI; "slow", rank 1 comes to the join when the others have given up. */
#include <longshore_mpi.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* const fault = argc > 1 ? argv[1] : "";
  const int is_late = strcmp(fault, "late") == 0;
  longshore_team* team = NULL;
  MPI_Init(&argc, &argv);
  if (strcmp(fault, "slow") == 0) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) sleep(3);
    const int code = longshore_join(MPI_COMM_WORLD, NULL, &team);
    printf("rank %d: %s\n", rank, longshore_error_message());
    fflush(stdout);
    MPI_Finalize();
    return code;
  }
  longshore_join(is_late ? MPI_COMM_WORLD : MPI_COMM_NULL, NULL, &team);
  longshore_barrier(team);
  if (strcmp(fault, "size") == 0) printf("%d ranks\n", longshore_team_size(team));
  if (!is_late) longshore_finalize(team);
  MPI_Finalize();
  if (is_late && longshore_finalize(team) == LONGSHORE_ERROR_USAGE) puts("refused");
  puts("it went on");
  return 0;
}

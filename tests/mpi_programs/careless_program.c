/* A C program that ignores errors. The argument says which: "join", a communicator of which no team
 * can be made; "size", the same, and a call that returns no code; "late", the end of a team after
 * the end of MPI. */
#include <longshore_mpi.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* const fault = argc > 1 ? argv[1] : "";
  const int is_late = strcmp(fault, "late") == 0;
  longshore_team* team = NULL;
  MPI_Init(&argc, &argv);
  longshore_join(is_late ? MPI_COMM_WORLD : MPI_COMM_NULL, NULL, &team);
  longshore_barrier(team);
  if (strcmp(fault, "size") == 0) printf("%d ranks\n", longshore_team_size(team));
  if (!is_late) longshore_finalize(team);
  MPI_Finalize();
  if (is_late && longshore_finalize(team) == LONGSHORE_ERROR_USAGE) puts("refused");
  puts("it went on");
  return 0;
}

/* For programs that initialise MPI themselves: creates a team from a communicator. All other calls
 * are in longshore.h. */
#ifndef LONGSHORE_MPI_H
#define LONGSHORE_MPI_H

#include <longshore.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a team with the ranks of the communicator `ranks`. Collective over these ranks. MPI must
 * be initialised, with any thread level. The call duplicates the communicator, so that the program
 * may free it or use it at any time. Several teams may exist at once. End the team with
 * longshore_finalize(team) before MPI_Finalize. The environment variables LONGSHORE_RANKS_PER_NODE
 * and LONGSHORE_TIMEOUT have the same meaning as for longshore_run. */
int longshore_init_mpi(MPI_Comm ranks, longshore_team** team);
/* Takes a Fortran communicator: the integer of `use mpi`, or comm%mpi_val of `use mpi_f08`. */
int longshore_init_mpi_fortran(MPI_Fint ranks, longshore_team** team);

#ifdef __cplusplus
}
#endif

#endif

/* For programs that start MPI themselves: a team of a communicator. Everything else is in
 * longshore.h. */
#ifndef LONGSHORE_MPI_H
#define LONGSHORE_MPI_H

#include <longshore.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A team whose ranks are those of `ranks`; collective over them. MPI must be initialised, with
 * MPI_THREAD_SINGLE at least. The communicator is duplicated; it may be freed after the call, and
 * used for messages of the program at any time. Several teams may exist at a time.
 * longshore_finalize(team) ends it, before MPI_Finalize. LONGSHORE_RANKS_PER_NODE and
 * LONGSHORE_TIMEOUT hold as in longshore_run. */
int longshore_init_mpi(MPI_Comm ranks, longshore_team** team);
/* The same for a communicator of Fortran: the integer of `use mpi`, comm%mpi_val of `use mpi_f08`.
 */
int longshore_init_mpi_fortran(MPI_Fint ranks, longshore_team** team);

#ifdef __cplusplus
}
#endif

#endif

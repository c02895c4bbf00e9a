/* For programs that initialise MPI themselves: creates a team from a communicator, and a grid from
 * a Cartesian communicator. All other calls are in longshore.h. */
#ifndef LONGSHORE_MPI_H
#define LONGSHORE_MPI_H

#include <longshore.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a team with the ranks of the communicator, which keep their numbers. If `options` is
 * NULL, the environment decides, as for longshore_run.
 *
 * Collective over the communicator. MPI must be initialised, with any thread level. With
 * MPI_THREAD_SINGLE or MPI_THREAD_FUNNELED, only the main thread can have the team. The call
 * duplicates the communicator, so that the program may free it or use it at any time. Several teams
 * may exist at once. End the team with longshore_finalize(team) before MPI_Finalize. Otherwise
 * MPI_Finalize prints an error, and the process ends with status 3.
 *
 * LONGSHORE_ERROR_USAGE before MPI_Init and after MPI_Finalize, for MPI_COMM_NULL, for an
 * inter-communicator, and for options out of range. *team is then NULL. */
int longshore_join(MPI_Comm communicator, const struct longshore_team_options* options,
                   longshore_team** team);
/* The same for a Fortran communicator: the integer of `use mpi`, or comm%mpi_val of `use mpi_f08`.
 */
int longshore_join_fortran(MPI_Fint communicator, const struct longshore_team_options* options,
                           longshore_team** team);

/* Creates the grid of a Cartesian communicator (MPI_Cart_create), with its shape, its periods and
 * its neighbours. The team must have the same ranks in the same order, as the team of the
 * communicator itself has.
 *
 * With `cart_order` "same" or NULL, dimension 0 of the communicator is x. The
 * longshore_grid_neighbour one step along x is then the destination of MPI_Cart_shift in direction
 * 0. With "reversed", the last dimension of the communicator is x, as in programs with arrays
 * u[z][y][x].
 *
 * Local. The communicator may be freed after the call. LONGSHORE_ERROR_USAGE for a communicator
 * that is MPI_COMM_NULL, is not Cartesian, has more than 3 dimensions, or has other ranks or
 * another order of ranks than the team, and for a team that does not use MPI. */
int longshore_grid_create_cart(longshore_team* team, MPI_Comm cartesian, const char* cart_order,
                               longshore_grid** grid);
/* The same for a Fortran communicator. */
int longshore_grid_create_cart_fortran(longshore_team* team, MPI_Fint cartesian,
                                       const char* cart_order, longshore_grid** grid);

#ifdef __cplusplus
}
#endif

#endif

// For programs that have started MPI: makes a team of a communicator, and a grid of a Cartesian
// communicator. Builds without MPI do not install this header.
//
//     std::shared_ptr<longshore::team> team = longshore::join(communicator);
//     longshore::rank_grid grid = longshore::cart_grid(*team, cartesian);
#pragma once

#include <longshore/halo/cart_grid.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/mpi/detail/headers.hpp>
#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <concepts>
#include <memory>

#include <mpi.h>

namespace longshore {

/// The team of the ranks of `communicator`, with the same rank numbers. `communicator` is an
/// MPI_Comm; a pointer does not compile.
///
/// Collective over the communicator, and so is the destruction of the team. Only the options
/// ranks_per_node, timeout_seconds and check_calls are used. The environment decides an option
/// without a value, as in longshore::run. MPI may be initialised with any thread level. With
/// MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED the main thread makes all calls of MPI and Longshore.
/// With the other levels, one thread at a time makes them. The team duplicates the communicator. So
/// messages of the program and of the team never mix, and the program may free its communicator at
/// any time. Several teams may exist. No rank is bound to a CPU.
///
/// Destroy the team, and the plans, arrays and grids made with it, before MPI_Finalize. Otherwise
/// MPI_Finalize prints an error, the calls of the team throw errc::usage, and the process ends with
/// status 3.
///
/// Throws errc::usage before MPI_Init and after MPI_Finalize, for MPI_COMM_NULL, for an
/// inter-communicator, for a program that was compiled with another MPI library than Longshore, and
/// for an invalid value in the environment; errc::timeout if not all ranks make the call in time.
/// An error of one rank does not end the other ranks: they time out.
///
/// Cost: a few collective calls of MPI, less than a millisecond on one node. Memory: less than 100
/// KiB per rank and 16 bytes for each rank of the communicator.
template <std::same_as<MPI_Comm> Communicator>
[[nodiscard]] std::shared_ptr<team> join(Communicator communicator,
                                         const run_options& options = {}) {
  return detail::join(&communicator, mpi::headers_name, options);
}

/// The grid of a Cartesian communicator (MPI_Cart_create) for a team with the same ranks in the
/// same order, such as join(cartesian). The grid has the shape, the periods and the neighbours of
/// the communicator. With the default order, coordinate d of the grid is coordinate d of MPI, and
/// the neighbour one step up along x is the destination of MPI_Cart_shift in direction 0. Pass
/// cart_order::reversed if direction 0 is z instead (y in two dimensions), as in programs with
/// arrays u[z][y][x].
///
/// Local. The communicator may be freed after the call. Throws errc::usage for a communicator that
/// is MPI_COMM_NULL, is not Cartesian, has more than 3 dimensions, or has other ranks or another
/// order of ranks than the team (MPI_Cart_create with reorder), and for a team that does not use
/// MPI.
template <std::same_as<MPI_Comm> Communicator>
[[nodiscard]] rank_grid cart_grid(team& team, Communicator cartesian,
                                  cart_order order = cart_order::same) {
  return detail::cart_grid(team, &cartesian, mpi::headers_name, order);
}

}  // namespace longshore

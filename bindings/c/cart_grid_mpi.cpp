// Makes grids from Cartesian communicators. A file of its own, so that programs without halos do not
// link halos.
#include "fortran_mpi.hpp"
#include "grid.hpp"
#include "handles.hpp"
#include "longshore_mpi.h"

#include <longshore/mpi.hpp>

using namespace longshore;
using namespace longshore::bindings;

extern "C" {

int longshore_grid_create_cart(longshore_team* team, MPI_Comm cartesian, const char* order,
                               longshore_grid** grid) {
  return guarded([&] {
    longshore_team& owner = checked(team);
    required(grid, "the pointer for the grid") = nullptr;
    *grid = keep_grid(
        owner, cart_grid(owner.ranks, cartesian, from_name<cart_order>(text_or(order, "same"))));
  });
}

int longshore_grid_create_cart_fortran(longshore_team* team, MPI_Fint cartesian, const char* order,
                                       longshore_grid** grid) {
  return longshore_grid_create_cart(team, from_fortran(cartesian), order, grid);
}
}

// In builds without MPI, cart_grid() throws. Builds with MPI use detail/mpi/cart_grid.cpp.
#include <longshore/halo/cart_grid.hpp>

#include <longshore/core/error.hpp>

namespace longshore {

#ifndef LONGSHORE_HAVE_MPI
rank_grid detail::cart_grid(team&, const void*, const char*, cart_order) {
  fail(errc::unsupported,
       "a grid of a Cartesian communicator: this Longshore was built without MPI");
}
#endif

}  // namespace longshore

// Makes the grid of a Cartesian communicator, in builds with MPI.
#include <longshore/halo/cart_grid.hpp>

#include <longshore/core/error.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/cart_grid.hpp>
#endif

#include <utility>

namespace longshore {

rank_grid detail::cart_grid([[maybe_unused]] team& team, [[maybe_unused]] const void* communicator,
                            [[maybe_unused]] const char* headers,
                            [[maybe_unused]] cart_order order) {
#ifdef LONGSHORE_HAVE_MPI
  mpi::cart_shape found = mpi::shape_of_communicator(team, communicator, headers, order);
  return rank_grid(team, found.dimensions, found.periodic, std::move(found.placed));
#else
  fail(errc::unsupported,
       "a grid of a Cartesian communicator: this Longshore was built without MPI");
#endif
}

}  // namespace longshore

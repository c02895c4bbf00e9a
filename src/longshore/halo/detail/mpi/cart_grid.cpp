// Asks a Cartesian communicator for its shape and periods. The MPI standard defines the order of
// its ranks: the last dimension varies fastest.
#include <longshore/halo/cart_grid.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <array>

namespace longshore::mpi {
namespace {

// Throws errc::usage unless the ranks of the communicator are those of the team.
void check_ranks(const longshore::team& team, MPI_Comm cartesian) {
  const MPI_Comm own = communicator_of(team);
  if (own == MPI_COMM_NULL)
    fail(errc::usage,
         "rank {} of {}: a grid of a Cartesian communicator for a team over {}: it needs a team "
         "over mpi, such as join(cartesian)",
         team.rank(), team.size(), team.transport_name());
  check_not_ended(static_cast<const mpi::team&>(team), "a grid of a Cartesian communicator");
  if (cartesian == MPI_COMM_NULL)
    fail(errc::usage,
         "rank {} of {}: a grid of MPI_COMM_NULL: MPI_Cart_create returns it to ranks beyond the "
         "grid; only the other ranks make a team and its grid",
         team.rank(), team.size());
  int topology = MPI_UNDEFINED, similarity = MPI_UNEQUAL;
  check(MPI_Topo_test(cartesian, &topology), "MPI_Topo_test");
  if (topology != MPI_CART)
    fail(errc::usage,
         "rank {} of {}: a grid of a communicator without Cartesian dimensions: pass the "
         "communicator that MPI_Cart_create returned",
         team.rank(), team.size());
  check(MPI_Comm_compare(own, cartesian, &similarity), "MPI_Comm_compare");
  if (similarity == MPI_IDENT || similarity == MPI_CONGRUENT) return;
  fail(errc::usage,
       "rank {} of {}: the team and the Cartesian communicator have {}: make the team of the "
       "Cartesian communicator itself",
       team.rank(), team.size(),
       similarity == MPI_SIMILAR ? "the same ranks in another order" : "different ranks");
}

}  // namespace

}  // namespace longshore::mpi

namespace longshore {

rank_grid detail::cart_grid(team& team, const void* communicator, const char* headers,
                            cart_order order) {
  using mpi::check;
  mpi::check_headers(headers);
  const MPI_Comm cartesian = *static_cast<const MPI_Comm*>(communicator);
  mpi::check_ranks(team, cartesian);
  int dimensions = 0;
  check(MPI_Cartdim_get(cartesian, &dimensions), "MPI_Cartdim_get");
  if (dimensions < 1 || dimensions > 3)
    fail(errc::usage, "a Cartesian communicator of {} dimensions: a grid of ranks has 1 to 3",
         dimensions);
  std::array<int, 3> ranks{}, periods{}, coordinates{};
  check(MPI_Cart_get(cartesian, dimensions, ranks.data(), periods.data(), coordinates.data()),
        "MPI_Cart_get");
  std::array<bool, 3> periodic{};
  placed_grid placed;
  placed.strides = {1, 1, 1};
  placed.kind = order == cart_order::same ? "cart" : "linear";
  int stride = 1;
  for (int cart = dimensions - 1; cart >= 0; --cart) {
    const int d = order == cart_order::same ? cart : dimensions - 1 - cart;
    placed.shape[d] = ranks[cart];
    placed.strides[d] = stride;
    periodic[d] = periods[cart] != 0;
    stride *= ranks[cart];
  }
  return rank_grid(team, dimensions, periodic, std::move(placed));
}

}  // namespace longshore

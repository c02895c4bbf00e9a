// Makes the grid of a Cartesian communicator, in builds with MPI.
#include <longshore/halo/cart_grid.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/cart_grid.hpp>
#endif

#include <array>
#include <utility>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 2> order_names = {"same", "reversed"};

}  // namespace

std::span<const std::string_view> cart_order_names() noexcept { return order_names; }

cart_order cart_order_from(std::string_view name) {
  return static_cast<cart_order>(
      index_of_name(order_names, name, "no order of a Cartesian communicator is named"));
}

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

// The orders of Cartesian communicators. detail/mpi/cart_grid.cpp makes their grids.
#include <longshore/halo/cart_grid.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>

#include <array>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 2> order_names = {"same", "reversed"};

}  // namespace

std::span<const std::string_view> cart_order_names() noexcept { return order_names; }

cart_order cart_order_from(std::string_view name) {
  return static_cast<cart_order>(
      index_of_name(order_names, name, "no order of a Cartesian communicator is named"));
}

#ifndef LONGSHORE_HAVE_MPI
rank_grid detail::cart_grid(team&, const void*, const char*, cart_order) {
  fail(errc::unsupported,
       "a grid of a Cartesian communicator: this Longshore was built without MPI");
}
#endif

}  // namespace longshore

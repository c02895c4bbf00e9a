// Grids of Cartesian communicators. longshore/mpi.hpp is the users' interface.
#pragma once

#include <longshore/core/name_lookup.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/team.hpp>

namespace longshore {

/// Which dimension of a grid is which dimension of a Cartesian communicator.
enum class cart_order {
  same,     ///< dimension 0 of the communicator is x, the first dimension of the grid
  reversed  ///< the last dimension of the communicator is x
};
template <>
inline constexpr enum_names<2> all_names<cart_order> = {"order of a Cartesian communicator",
                                                        {"same", "reversed"}};

namespace detail {
/// `communicator` points to an MPI_Comm. `headers`: as in detail::join of launch/join.hpp.
[[nodiscard]] rank_grid cart_grid(team& team, const void* communicator, const char* headers,
                                  cart_order order);
}  // namespace detail

}  // namespace longshore

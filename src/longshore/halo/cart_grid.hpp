// Grids of Cartesian communicators. longshore/mpi.hpp is the users' interface.
#pragma once

#include <longshore/core/name_lookup.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/team.hpp>

namespace longshore {

/// How the dimensions of a grid match the dimensions of a Cartesian communicator.
enum class cart_order {
  same,     ///< dimension 0 of the communicator is x, the first dimension of the grid
  reversed  ///< the last dimension of the communicator is x
};
template <>
inline constexpr enum_names<2> all_names<cart_order> = {"order of a Cartesian communicator",
                                                        {"same", "reversed"}};

namespace detail {
/// `communicator` points to an MPI_Comm. `headers` names the MPI library whose mpi.h the caller was
/// compiled with (transport/mpi/detail/headers.hpp).
[[nodiscard]] rank_grid cart_grid(team& team, const void* communicator, const char* headers,
                                  cart_order order);
}  // namespace detail

}  // namespace longshore

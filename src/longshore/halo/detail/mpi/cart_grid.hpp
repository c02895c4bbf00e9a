// The grid of a Cartesian communicator. This header has no MPI types, so that files outside this
// folder can include the header.
#pragma once

#include <longshore/halo/cart_grid.hpp>

#include <array>

namespace longshore::mpi {

/// A Cartesian communicator in the order of the dimensions of a grid.
struct cart_shape {
  int dimensions = 0;
  std::array<bool, 3> periodic{};
  placed_grid placed;
};

/// `communicator` points to an MPI_Comm. Throws errc::usage for what longshore/mpi.hpp lists.
[[nodiscard]] cart_shape shape_of_communicator(const team& team, const void* communicator,
                                               const char* headers, cart_order order);

}  // namespace longshore::mpi

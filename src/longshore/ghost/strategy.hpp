// The strategies of a ghost exchange: their names, and why a run cannot use a strategy.
#pragma once

#include <longshore/core/name_lookup.hpp>

#include <optional>
#include <string>

namespace longshore {

class team;

/// How a plan moves the elements. docs/reference/ghost.md has the costs.
enum class ghost_strategy {
  standard,        ///< one message per neighbour
  direct,          ///< reads from the owner's memory on a node, one message per other neighbour
  node_aware_2,    ///< one message per rank and other node, spread on that node
  node_aware,      ///< collected on the node, one message per pair of nodes, spread on that node
  mpi_waitall,     ///< MPI_Irecv, MPI_Isend, MPI_Waitall
  mpi_persistent,  ///< requests that are made once, MPI_Startall
  mpi_neighbor,    ///< MPI_Ineighbor_alltoallv on a graph communicator
  automatic        ///< measured when the plan is made
};

template <>
inline constexpr enum_names<8> all_names<ghost_strategy> = {
    "ghost strategy",
    {"standard", "direct", "node-aware-2", "node-aware", "mpi-waitall", "mpi-persistent",
     "mpi-neighbor", "auto"}};

/// Whether a strategy is a sequence of MPI calls.
[[nodiscard]] constexpr bool is_mpi_strategy(ghost_strategy strategy) noexcept {
  return strategy >= ghost_strategy::mpi_waitall && strategy <= ghost_strategy::mpi_neighbor;
}

/// Returns why the ranks of a team cannot use `strategy`, or nothing if they can. All ranks get the
/// same answer.
[[nodiscard]] std::optional<std::string> why_not(ghost_strategy strategy, const team& ranks);

}  // namespace longshore

// The strategies of a ghost exchange: their names, and where a strategy cannot be used.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

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

struct named_ghost_strategy {
  ghost_strategy strategy;
  std::string_view name;  ///< on the command line
};

inline constexpr std::array<named_ghost_strategy, 8> ghost_strategies = {{
    {ghost_strategy::standard, "standard"},
    {ghost_strategy::direct, "direct"},
    {ghost_strategy::node_aware_2, "node-aware-2"},
    {ghost_strategy::node_aware, "node-aware"},
    {ghost_strategy::mpi_waitall, "mpi-waitall"},
    {ghost_strategy::mpi_persistent, "mpi-persistent"},
    {ghost_strategy::mpi_neighbor, "mpi-neighbor"},
    {ghost_strategy::automatic, "auto"},
}};

[[nodiscard]] std::string_view name_of(ghost_strategy strategy) noexcept;

/// The strategy with this name. For an unknown name, throws errc::usage with a list of the names.
[[nodiscard]] ghost_strategy ghost_strategy_of(std::string_view name);

/// Whether a strategy is a sequence of MPI calls.
[[nodiscard]] constexpr bool is_mpi_strategy(ghost_strategy strategy) noexcept {
  return strategy >= ghost_strategy::mpi_waitall && strategy <= ghost_strategy::mpi_neighbor;
}

/// The reason why the ranks of a team cannot use `strategy`, or nothing. All ranks get the same
/// answer.
[[nodiscard]] std::optional<std::string> why_not(ghost_strategy strategy, const team& ranks);

}  // namespace longshore

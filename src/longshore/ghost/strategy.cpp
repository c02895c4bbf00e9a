// Explains why a strategy cannot be used.
#include <longshore/ghost/strategy.hpp>

#include <longshore/transport/team.hpp>

#include <fmt/core.h>

namespace longshore {

std::optional<std::string> why_not(ghost_strategy strategy, const team& ranks) {
  if (!is_mpi_strategy(strategy) || ranks.transport_name() == "mpi") return std::nullopt;
  return fmt::format(
      "ghost strategy '{}' is a sequence of MPI calls: it needs the transport mpi, "
      "not {}",
      name_of(strategy), ranks.transport_name());
}

}  // namespace longshore

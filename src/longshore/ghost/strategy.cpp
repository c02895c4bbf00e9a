// Looks up strategies by name, and explains why a strategy cannot be used.
#include <longshore/ghost/strategy.hpp>

#include <longshore/core/name_lookup.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>

namespace longshore {

std::string_view name_of(ghost_strategy strategy) noexcept {
  for (const auto& known : ghost_strategies)
    if (known.strategy == strategy) return known.name;
  return "?";
}

ghost_strategy ghost_strategy_of(std::string_view name) {
  return ghost_strategies[index_of_name(ghost_strategies, name, "ghost exchange has no strategy")]
      .strategy;
}

std::optional<std::string> why_not(ghost_strategy strategy, const team& ranks) {
  if (!is_mpi_strategy(strategy) || ranks.transport_name() == "mpi") return std::nullopt;
  return fmt::format(
      "ghost strategy '{}' is a sequence of MPI calls: it needs the transport mpi, "
      "not {}",
      name_of(strategy), ranks.transport_name());
}

}  // namespace longshore

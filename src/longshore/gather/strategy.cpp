#include <longshore/gather/strategy.hpp>

#include <longshore/core/names.hpp>

namespace longshore {

std::string_view name_of(gather_strategy strategy) noexcept {
  for (const auto& known : gather_strategies)
    if (known.strategy == strategy) return known.name;
  return "?";
}

gather_strategy gather_strategy_of(std::string_view name) {
  return gather_strategies[place_of_name(gather_strategies, name, "gather has no strategy")].strategy;
}

std::optional<std::string> why_not(gather_strategy strategy, bool all_reachable) {
  switch (strategy) {
    case gather_strategy::agp:
    case gather_strategy::exstack:
    case gather_strategy::exstack2:
    case gather_strategy::conveyor:
    case gather_strategy::aggregator:
    case gather_strategy::automatic: return std::nullopt;
    case gather_strategy::direct:
      if (all_reachable) return std::nullopt;
      return "strategy direct loads from the memory of every rank, and some ranks are on other nodes: use exstack or agp";
  }
  return std::nullopt;
}

}  // namespace longshore

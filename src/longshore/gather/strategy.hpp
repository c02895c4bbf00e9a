// The strategies of gather, scatter and updates: their names, and where a strategy cannot be used.
// The names exstack, exstack2, conveyor and agp (atomics, gets, puts: one access per element) are
// bale's.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace longshore {

enum class gather_strategy { agp, exstack, exstack2, conveyor, aggregator, direct, automatic };

struct named_gather_strategy {
  gather_strategy strategy;
  std::string_view name;  ///< on the command line
};

inline constexpr std::array<named_gather_strategy, 7> gather_strategies = {{
    {gather_strategy::agp, "agp"},
    {gather_strategy::exstack, "exstack"},
    {gather_strategy::exstack2, "exstack2"},
    {gather_strategy::conveyor, "conveyor"},
    {gather_strategy::aggregator, "aggregator"},
    {gather_strategy::direct, "direct"},
    {gather_strategy::automatic, "auto"},
}};

[[nodiscard]] std::string_view name_of(gather_strategy strategy) noexcept;

/// Whether the strategy collects items in buffers, instead of accessing every element separately.
[[nodiscard]] constexpr bool aggregates(gather_strategy strategy) noexcept {
  return strategy != gather_strategy::agp && strategy != gather_strategy::direct;
}

/// The strategy with this name. For an unknown name, throws errc::usage with a list of the names.
[[nodiscard]] gather_strategy gather_strategy_of(std::string_view name);

/// The reason why `strategy` cannot be used for a gather, or nothing. `all_reachable`: whether
/// every rank can load from the memory of every other rank.
[[nodiscard]] std::optional<std::string> why_not(gather_strategy strategy, bool all_reachable);

namespace detail {

/// As why_not, for scatter and for updates of elements of `element_bytes` bytes. `has_fetch_add`:
/// whether the transports have an atomic operation for the update.
[[nodiscard]] std::optional<std::string> why_not_scatter(gather_strategy strategy,
                                                         bool all_reachable,
                                                         std::size_t element_bytes);
[[nodiscard]] std::optional<std::string> why_not_update(gather_strategy strategy,
                                                        bool all_reachable,
                                                        std::size_t element_bytes,
                                                        bool has_fetch_add);

}  // namespace detail

}  // namespace longshore

// The strategies of gather, scatter and updates: their names, and where a strategy cannot be used.
// The names exstack, exstack2, conveyor and agp (atomics, gets, puts: one access per element) are
// bale's.
#pragma once

#include <longshore/core/name_lookup.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace longshore {

enum class gather_strategy { agp, exstack, exstack2, conveyor, aggregator, direct, automatic };

template <>
inline constexpr enum_names<7> all_names<gather_strategy> = {
    "gather strategy", {"agp", "exstack", "exstack2", "conveyor", "aggregator", "direct", "auto"}};

/// Whether the strategy collects items in buffers, instead of accessing every element separately.
[[nodiscard]] constexpr bool aggregates(gather_strategy strategy) noexcept {
  return strategy != gather_strategy::agp && strategy != gather_strategy::direct;
}

/// The reason why `strategy` cannot be used for a gather, or nothing. `all_reachable`: whether
/// every rank can load from the memory of every other rank.
[[nodiscard]] std::optional<std::string> why_not(gather_strategy strategy, bool all_reachable);

namespace detail {

/// Like why_not, but for scatter and for updates of elements of `element_bytes` bytes.
/// `has_fetch_add`: whether the transports have an atomic operation for the update.
[[nodiscard]] std::optional<std::string> why_not_scatter(gather_strategy strategy,
                                                         bool all_reachable,
                                                         std::size_t element_bytes);
[[nodiscard]] std::optional<std::string> why_not_update(gather_strategy strategy,
                                                        bool all_reachable,
                                                        std::size_t element_bytes,
                                                        bool has_fetch_add);

}  // namespace detail

}  // namespace longshore

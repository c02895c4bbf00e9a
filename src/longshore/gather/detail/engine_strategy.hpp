// The engines of the asynchronous strategies exstack2, conveyor and aggregator, and the errors of
// calls in which a rank fails.
#pragma once

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/gather/options.hpp>

namespace longshore::detail {

[[nodiscard]] constexpr bool is_asynchronous(gather_strategy strategy) noexcept {
  return strategy == gather_strategy::exstack2 || strategy == gather_strategy::conveyor ||
         strategy == gather_strategy::aggregator;
}

/// The options of the engine of options.strategy, which is asynchronous.
[[nodiscard]] engine_options engine_options_for(const team& team, const gather_options& options);

/// The number of items per buffer if the caller gives none (gather_options::buffer_items).
[[nodiscard]] std::size_t default_buffer_items(const node_map& nodes, gather_strategy strategy,
                                               std::size_t element_bytes) noexcept;

/// Throws errc::usage, because the numbers of indices and values differ. `role`: words before
/// "values".
[[noreturn]] void throw_size_error(const char* operation, const team& team, std::size_t indices,
                                   std::size_t values, const char* role);
/// Throws errc::peer_failed, because `failed_rank` passed invalid indices or arrays.
[[noreturn]] void throw_peer_failed(const char* operation, const team& team, int failed_rank);

}  // namespace longshore::detail

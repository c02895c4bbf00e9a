// The asynchronous engines behind strategies exstack2, conveyor and aggregator, and how a use of
// them is given up.
#pragma once

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/gather/options.hpp>

namespace longshore::detail {

[[nodiscard]] constexpr bool is_asynchronous(gather_strategy strategy) noexcept {
  return strategy == gather_strategy::exstack2 || strategy == gather_strategy::conveyor ||
         strategy == gather_strategy::aggregator;
}

/// The engine of an asynchronous strategy. Buffers are as large as asked for.
[[nodiscard]] engine_options engine_options_of(const team& team, gather_strategy strategy,
                                               const gather_options& asked);

/// Thrown where a rank should say what it asks for, and cannot: it serves the others to the end of
/// the use.
struct refusal {};

/// Throws errc::peer_failed: `failed_rank` had indices or values that cannot be used.
[[noreturn]] void give_up(const char* operation, const team& team, int failed_rank);

}  // namespace longshore::detail

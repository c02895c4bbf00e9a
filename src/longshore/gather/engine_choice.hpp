// The asynchronous engines behind strategies exstack2, conveyor and aggregator, and what all ranks must agree on before they start.
#pragma once

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/gather/options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace longshore::gathering {

[[nodiscard]] constexpr bool is_asynchronous(gather_strategy strategy) noexcept {
  return strategy == gather_strategy::exstack2 || strategy == gather_strategy::conveyor ||
         strategy == gather_strategy::aggregator;
}

/// The engine of an asynchronous strategy. Buffers are as large as asked for.
[[nodiscard]] engine_options engine_options_of(const team& team, gather_strategy strategy, const gather_options& asked);

/// Collective: an engine that some ranks do not take part in would never end, so all say first whether they can. Returns when all can;
/// throws errc::usage on a rank that has an index outside [0, size), errc::peer_failed on the others. Cost: one pass over the
/// indices, one allreduce.
void agree_on_indices(team& team, const char* operation, std::span<const std::int64_t> indices, std::uint64_t size);

/// Collective with agree_on_indices of the other ranks: this one cannot take part.
void refuse_to_agree(team& team);

}  // namespace longshore::gathering

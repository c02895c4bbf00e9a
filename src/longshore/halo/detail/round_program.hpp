// Makes the plan of the modes direct and channel from the rounds of an algorithm.
#pragma once

#include <longshore/exchange/detail/exchange_plan.hpp>
#include <longshore/exchange/field_view.hpp>
#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Throws errc::usage if the cells of a message of this rank do not fit those at its other end.
void check_messages(const team& ranks, std::span<const halo_round> rounds);

/// Returns the setup of a plan without memory, types and programs. Messages are as in `mode`, which
/// is `direct` or `channel`. The grid is used until the plan is made.
[[nodiscard]] plan_setup halo_setup(const rank_grid& grid, halo_mode mode);

/// Returns the setup of the plan of some rounds.
[[nodiscard]] plan_setup setup_of_rounds(const rank_grid& grid, halo_mode mode,
                                         std::span<const halo_round> rounds,
                                         std::span<const field_memory> fields);

/// Returns about how many bytes the cache lines have that hold the cells of all messages.
[[nodiscard]] std::size_t touched_bytes(std::span<const halo_round> rounds);

[[nodiscard]] inline halo_transfers transfers_of(const payload_ways& ways) noexcept {
  return {.copied = ways.copied,
          .read = ways.read,
          .channels = ways.channels,
          .posted = ways.posted,
          .mpi = ways.mpi};
}

}  // namespace longshore::detail

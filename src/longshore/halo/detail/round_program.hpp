// Makes the plan of an exchange from the rounds of an algorithm.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/exchange/detail/exchange_plan.hpp>
#include <longshore/exchange/field_view.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Throws errc::usage if the cells of a message of this rank do not fit those at its other end.
void check_messages(const team& ranks, std::span<const halo_round> rounds);

/// The carrier of a mode of MPI calls. Both enumerations have them in the same order.
[[nodiscard]] constexpr carrier carrier_of(halo_mode mode) noexcept {
  return static_cast<carrier>(mode);
}
static_assert(carrier_of(halo_mode::sendrecv) == carrier::mpi_sendrecv &&
              carrier_of(halo_mode::rma_flush) == carrier::mpi_rma_flush);

/// For modes of MPI calls: adds a pair. Call before its messages are added to the round.
void add_call_pair(exchange_round& round, bool has_outgoing, bool has_incoming);
/// Completes the pairs of a round. Pair i travels in directions[i].
void order_calls(exchange_round& round, const rank_grid& grid,
                 std::span<const halo_direction> directions);

/// Returns the setup of a plan without memory, types and programs, for the messages of a mode. The
/// grid must exist until the plan is made.
[[nodiscard]] plan_setup halo_setup(const rank_grid& grid, halo_mode mode);

/// Returns the setup of the plan of some rounds. `groups` has the fields for which they were planned.
[[nodiscard]] plan_setup setup_of_rounds(const rank_grid& grid, halo_mode mode,
                                         std::span<const halo_round> rounds,
                                         std::span<const field_memory> fields,
                                         std::span<const exchanged_field> groups);

/// The bytes that a run of cells touches beyond its own: four runs lie side by side
/// (copy_batch::add), and share one line that they do not fill.
inline constexpr std::size_t shared_line_bytes = cache_line_bytes / 4;

}  // namespace longshore::detail

// The modes that are sequences of MPI calls, behind the interface of all modes. No MPI type shows
// here.
#pragma once

#include <longshore/halo/detail/polled_carrier.hpp>
#include <longshore/halo/mode.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longshore::mpi {

/// Why the MPI library that this was built with cannot do a mode, or nothing.
[[nodiscard]] std::optional<std::string> why_no_call(halo_mode mode);

/// Collective. REQUIRES: a team of the mpi transport, and that why_not of the mode gives nothing.
/// Throws errc::unsupported when this MPI library cannot do it rightly.
[[nodiscard]] std::vector<std::unique_ptr<message_carrier>> make_carriers(
    halo_mode mode, const rank_grid& grid, std::vector<detail::halo_round> rounds,
    const carrier_options& options);

/// Collective. For each round what modes channel and direct use between nodes (posted_carrier.hpp).
/// REQUIRES: a team of the mpi transport, no messages of a rank to itself, delivery unpacked.
[[nodiscard]] std::vector<std::unique_ptr<detail::polled_carrier>> make_posted(
    const rank_grid& grid, const std::vector<detail::halo_round>& rounds,
    const carrier_options& options);

}  // namespace longshore::mpi

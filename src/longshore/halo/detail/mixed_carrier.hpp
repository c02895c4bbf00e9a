// Modes channel and direct: each message goes the way that is best between its two ends. What a
// rank sends to itself is one copy; what can be read where it lies is (direct_carrier.hpp); what
// crosses between nodes over MPI is posted (mpi/posted_carrier.hpp); the rest goes through slots
// (channel_carrier.hpp).
//
// Mode channel takes the slots within a node too, but for large messages that need no packing:
// those it lets the receiver read.
#pragma once

#include <longshore/halo/mode.hpp>

#include <memory>
#include <vector>

namespace longshore::detail {

/// Collective. REQUIRES: mode channel or direct.
[[nodiscard]] std::vector<std::unique_ptr<message_carrier>> make_mixed_carriers(
    halo_mode mode, const rank_grid& grid, std::vector<halo_round> rounds,
    const carrier_options& options);

}  // namespace longshore::detail

// Modes channel and direct: each message is transferred in the best way between its two ends. A
// message of a rank to itself is one copy. A receiver that can read the sender's memory does so
// (direct_backend.hpp). Messages between nodes over MPI use posted requests
// (mpi/posted_backend.hpp). All others go through the slots of channels (channel_backend.hpp).
//
// Mode channel uses slots within a node too, except for large contiguous messages, which the
// receiver reads in the sender's memory.
#pragma once

#include <longshore/halo/detail/backends/exchange_backend.hpp>

#include <memory>
#include <vector>

namespace longshore::detail {

/// Collective. REQUIRES: mode channel or direct.
[[nodiscard]] std::vector<std::unique_ptr<exchange_backend>> make_mixed_backends(
    halo_mode mode, const rank_grid& grid, std::vector<halo_round> rounds,
    const backend_options& options);

}  // namespace longshore::detail

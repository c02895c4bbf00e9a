// Modes channel and direct: each message is transferred in the best way between its two ends. A
// message of a rank to itself is one copy. If the receiver can map the sender's memory, mode direct
// copies from there (direct_backend.hpp), and mode channel does so for large contiguous messages.
// Messages between nodes over MPI use persistent requests (mpi/posted_backend.hpp). The remaining
// messages go through the slots of channels (channel_backend.hpp).
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

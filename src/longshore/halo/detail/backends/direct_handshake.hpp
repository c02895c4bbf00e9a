// Makes the backends of mode direct: neighbours on a node describe their cells to each other in
// handshake messages, and map each other's memory.
#pragma once

#include <longshore/halo/detail/backends/direct_backend.hpp>
#include <longshore/halo/detail/backends/exchange_backend.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

/// Decides whether an outgoing message is transferred by direct reads, if the receiver can map its
/// cells. REQUIRES: the decision depends on the message only.
using direct_filter = std::function<bool(const halo_message&)>;

/// Collective over neighbours. Makes a direct backend for each round, or null if this rank has no
/// direct messages in the round. The backends transfer the messages between ranks of a node that
/// the sender's `filter` accepts and whose cells the receiver can map. These messages are removed
/// from `rounds`, at the sender and at the receiver.
[[nodiscard]] std::vector<std::unique_ptr<direct_backend>> make_direct_backends(
    const rank_grid& grid, std::vector<halo_round>& rounds, const backend_options& options,
    const direct_filter& filter);

}  // namespace longshore::detail

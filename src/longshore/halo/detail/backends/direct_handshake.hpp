// Makes the backends of mode direct: neighbours on a node describe their cells to each other, and
// each maps the memory of the others.
#pragma once

#include <longshore/halo/detail/backends/direct_backend.hpp>
#include <longshore/halo/detail/backends/exchange_backend.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

/// Collective over neighbours. Makes a direct backend for each round; null if this rank has no such
/// message in it. The backends transfer the messages between ranks of one node for which `wanted`
/// is true and whose cells the receiver can reach. These messages are removed from `rounds`, at
/// both ends alike. REQUIRES: `wanted`, which the sender decides, depends on the message only.
[[nodiscard]] std::vector<std::unique_ptr<direct_backend>> make_direct_backends(
    const rank_grid& grid, std::vector<halo_round>& rounds, const backend_options& options,
    const std::function<bool(const halo_message&)>& wanted);

}  // namespace longshore::detail

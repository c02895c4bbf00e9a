// In which order a rank serves the others.
#pragma once

#include <longshore/sort/strategy.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstdint>
#include <vector>

namespace longshore::detail {

/// The targets of one rank, one per round, all others once each. `seed` is the same on all ranks.
///   round-robin     me + 1, me + 2, ...; the ranks of a round aim at different targets
///   random          the same along one random permutation shared by all, so that this holds there too
///   random-private  a random permutation of each rank's own, as in ISx: a round's most wanted target has some
///                   ln P / ln ln P senders
///   xor             me ^ 1, me ^ 2, ...: pairs; where ranks are no power of two some pause
///   incast          0, 1, 2, ...: all at one, the worst case
///   node-aware      the next node's ranks, those of the node after it, ..., the own node's; the ranks of a node begin at different
///                   ranks, so that a round aims at different targets where nodes are of one size
[[nodiscard]] std::vector<int> targets_of(exchange_order order, int rank, int ranks,
                                          const node_map& nodes, std::uint64_t seed);

}  // namespace longshore::detail

// The order in which a rank sends to the other ranks.
#pragma once

#include <longshore/sort/strategy.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstdint>
#include <vector>

namespace longshore::detail {

/// The targets of one rank, one per round: every other rank once. `seed` is the same on all ranks.
/// In this table i is the rank.
///   round-robin     i + 1, i + 2, ...: the ranks have different targets in each round
///   random          as round-robin, along a random permutation that all ranks share: the ranks
///   have
///                   different targets in each round too
///   random-private  a random permutation of each rank's own, as in ISx: the most frequent target
///   of
///                   a round has some ln P / ln ln P senders
///   xor             i ^ 1, i ^ 2, ...: ranks exchange in pairs; if the number of ranks is no power
///   of
///                   two, some pause in a round
///   incast          0, 1, 2, ...: all ranks have the same target in each round, the worst case
///   node-aware      the ranks of the next node, then of the node after it, ..., and of the own
///   node
///                   last. The ranks of a node begin with different targets, so the ranks have
///                   different targets in each round if all nodes have the same number of ranks
[[nodiscard]] std::vector<int> targets_of(exchange_order order, int rank, int ranks,
                                          const node_map& nodes, std::uint64_t seed);

}  // namespace longshore::detail

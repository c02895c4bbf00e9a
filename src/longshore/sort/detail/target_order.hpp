// targets_of: the order in which a rank of a sort sends to the other ranks.
#pragma once

#include <longshore/sort/strategy.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstdint>
#include <vector>

namespace longshore::detail {

/// The targets of rank i, one per step: every other rank once. `seed` is the same on all ranks.
///   round-robin     i + 1, i + 2, ...: the ranks have different targets in each step
///   random          as round-robin, along a random permutation that all ranks share: the ranks
///                   have different targets in each step, too
///   random-private  a random permutation that each rank draws alone, as in ISx: the most frequent
///                   target of a step has some ln P / ln ln P senders, for P ranks
///   xor             i ^ 1, i ^ 2, ...: ranks exchange in pairs; if the number of ranks is no power
///                   of two, some ranks pause in a step
///   incast          0, 1, 2, ...: all ranks have the same target in each step, the worst case
///   node-aware      the ranks of the next node, then of the node after that, ..., and of this node
///                   last. The ranks of a node begin with different targets, so the ranks have
///                   different targets in each step if all nodes have the same number of ranks
[[nodiscard]] std::vector<int> targets_of(exchange_order order, int rank, int ranks,
                                          const node_map& nodes, std::uint64_t seed);

}  // namespace longshore::detail

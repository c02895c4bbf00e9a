// The functions that make the exchanges of a sort, and the order in which a rank sends to the other
// ranks. The file of each function also has the class of its exchange.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
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

using made_exchange = std::unique_ptr<block_exchange>;

/// `strategy`: sendrecv or channel.
[[nodiscard]] made_exchange make_message_exchange(team& team, std::size_t item_bytes,
                                                  std::vector<int> targets,
                                                  exchange_strategy strategy);
/// `strategy`: put, put_scan or direct.
[[nodiscard]] made_exchange make_put_exchange(team& team, std::size_t item_bytes,
                                              std::vector<int> targets, exchange_strategy strategy);
[[nodiscard]] made_exchange make_two_hop_exchange(team& team, std::size_t item_bytes);

}  // namespace longshore::detail

namespace longshore::mpi {

/// Collective. REQUIRES: a team of the mpi transport.
[[nodiscard]] detail::made_exchange make_rma_exchange(longshore::team& team, std::size_t item_bytes,
                                                      std::vector<int> targets);

}  // namespace longshore::mpi

// Strategies node-aware-2 and node-aware: fewer messages between nodes (A. Bienz, W. Gropp, L.
// Olson, "Node aware sparse matrix-vector multiplication", JPDC 2019, and MPI Advance). An element
// that several ranks of a node need crosses to that node once.
//
//   2 steps: the owner sends one message to each node that needs its elements, to the rank there
//            with the owner's place in the node (the gateway of the owner). The gateway spreads the
//            elements on its node.
//   3 steps: a collector on the owners' node joins the elements of all its ranks. So a pair of nodes
//            has one message, from a collector to a gateway. Nodes share their collectors and
//            gateways among their ranks.
//
// An accumulate takes the same way back. Contributions of ghosts travel separately to the owner,
// which combines them in the order of ranks, so they are not joined on the way.
//
// Messages of a rank between nodes, each way: 2 steps: one per node that needs its elements. 3
// steps: one per pair of nodes, divided by the ranks of a node. On a node: one, or two, to each
// gateway or collector, or direct reads. Memory: buffers for the elements that pass through.
#pragma once

#include <longshore/ghost/detail/ghost_program.hpp>
#include <longshore/ghost/ghost_exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace longshore::detail {

struct node_aware_programs {
  ghost_program update, accumulate;          ///< without rounds, if the operation is not wanted
  std::vector<std::size_t> buffer_elements;  ///< of the buffers of both programs
};

/// Owners and readers know the elements of their links, so no message between nodes is needed. Ranks
/// of a node tell each other their links with other nodes. From these a gateway and the rank that
/// sends to it derive the same elements in the same order. A second message on the node says where
/// elements lie in buffers, for direct reads.
class node_aware_planner {
 public:
  using messages = std::vector<std::vector<std::byte>>;
  /// `steps`: 2 or 3. Collective on 64 ranks and more, else local.
  node_aware_planner(const ghost_links& links, int steps, const ghost_options& options);
  /// To the other ranks of the node.
  [[nodiscard]] const std::shared_ptr<messenger>& mates() const noexcept { return mates_; }

  /// The links that gateways and collectors must know: a message for each mate.
  [[nodiscard]] messages requests();
  /// The programs, from the requests of all mates. They lack the places in buffers of mates.
  [[nodiscard]] node_aware_programs plan(messages requests);
  /// After plan(): the places in buffers of this rank, a message for each mate.
  [[nodiscard]] messages places();
  /// Adds the places in buffers of all mates.
  void complete(ghost_program& update, ghost_program& accumulate, messages places);

 private:
  // The messages of a round while parts are added to them.
  class round_builder {
   public:
    void give(int peer, outgoing_part part) { outgoing_[peer].push_back(std::move(part)); }
    void take(int peer, incoming_part part) { incoming_[peer].push_back(std::move(part)); }
    [[nodiscard]] ghost_round build(int me) &&;

   private:
    std::map<int, std::vector<outgoing_part>> outgoing_;
    std::map<int, std::vector<incoming_part>> incoming_;
  };
  struct from_rank {
    int rank;
    std::vector<std::byte> bytes;
  };
  // A link between this node and another.
  struct block {
    int node, owner, reader;  // the other node
    index_list owned, ghosts;
    std::size_t first = 0;  // contribution, in the order of blocks
  };
  // The links of an owner with the ranks of a node, and the elements that cross: each once.
  struct owner_crossing {
    int node, owner;
    std::vector<block> blocks;
    index_list elements;
    std::size_t first = 0;  // element, in the order of crossings
  };
  // All that crosses between this node and another.
  struct of_node {
    int node;
    index_list elements, contributions;
  };
  // Both ends derive the same order: of nodes, owners and readers.
  struct crossings {
    std::vector<owner_crossing> list;
    std::vector<of_node> nodes;
    std::size_t elements = 0, contributions = 0;
  };
  [[nodiscard]] static crossings join(std::vector<block> blocks);
  [[nodiscard]] messages outgoing(std::map<int, std::vector<std::byte>> by_rank);
  [[nodiscard]] std::vector<from_rank> incoming(messages received);

  // The rank of `node` that sends to the gateway of `other`, or that gets its elements.
  [[nodiscard]] int end_on(int node, int other) const;
  [[nodiscard]] int gateway_of(int owner) const;
  void add_local_links();
  void plan_as_owner();
  void plan_as_reader();
  void plan_as_gateway(const crossings& all);
  void plan_as_collector(const crossings& all);

  const ghost_links& links_;
  const node_map& nodes_;
  int me_, steps_;
  ghost_options options_;
  std::shared_ptr<messenger> mates_;
  std::vector<std::byte> own_message_;  // of this rank to itself
  std::vector<block> wanted_, given_;   // links of this rank with other nodes, in their order
  std::vector<round_builder> update_, accumulate_;
  std::vector<std::size_t> buffer_elements_;
  // For each mate: places of elements at this gateway, and of contributions at this collector.
  struct told_places {
    std::vector<std::uint32_t> elements, contributions;
  };
  std::map<int, told_places> told_;
};

}  // namespace longshore::detail

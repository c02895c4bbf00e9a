// Strategies node-aware-2 and node-aware: fewer messages between nodes (A. Bienz, W. Gropp, L.
// Olson, "Node aware sparse matrix-vector multiplication", JPDC 2019, and MPI Advance). An element
// that several ranks of a node need crosses to that node once.
//
//   2 steps: the owner sends one message to each node that needs its elements. The receiver, the
//            gateway, is the rank there with the owner's place in the node. It spreads the elements
//            on its node.
//   3 steps: a collector on the owners' node joins the elements of all its ranks. So a pair of nodes
//            has one message, from a collector to a gateway. The ranks of a node share the work of
//            collectors and gateways.
//
// An accumulate uses the same routes in the opposite direction. Contributions of ghosts travel
// separately to the owner, because the owner must combine them in the order of ranks.
//
// Messages between nodes, in each direction: with 2 steps, a rank has one per node that needs its
// elements. With 3 steps, a pair of nodes has one. On a node, a rank has one or two messages for
// each gateway or collector, or direct reads. Memory: buffers for the elements that pass through.
#pragma once

#include <longshore/exchange/detail/copy_links.hpp>
#include <longshore/ghost/detail/ghost_links.hpp>
#include <longshore/ghost/ghost_exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace longshore::detail {

struct node_aware_programs {
  std::vector<exchange_round> update, accumulate;  ///< empty if not in the plan
  std::vector<std::size_t> buffer_elements;        ///< of the buffers of both programs
};

/// Plans the messages of a node-aware strategy. No message between nodes is needed, because owners
/// and readers know the elements of their links. Ranks of a node tell each other their links with
/// other nodes. From these links, a gateway and the rank that sends to it derive the same elements
/// in the same order. For direct reads, a second message on the node says where elements lie in
/// buffers.
class node_aware_planner {
 public:
  using messages = std::vector<std::vector<std::byte>>;
  /// `steps` is 2 or 3. Collective on 64 ranks and more, else local.
  node_aware_planner(const ghost_links& links, int steps, const ghost_options& options);
  /// The messenger to the other ranks of the node (mates).
  [[nodiscard]] const std::shared_ptr<messenger>& node_messenger() const noexcept {
    return node_messenger_;
  }

  /// Returns a message for each mate, with the links for which it is gateway or collector.
  [[nodiscard]] messages requests();
  /// Returns programs from the requests of all mates. They lack the places in buffers of mates.
  [[nodiscard]] node_aware_programs plan(messages requests);
  /// Call after plan(). Returns a message for each mate, with places in the buffers of this rank.
  [[nodiscard]] messages places();
  /// Adds the places in the buffers of all mates to the programs.
  void complete(exchange_program& update, exchange_program& accumulate, messages places);

 private:
  struct from_rank {
    int rank;
    std::vector<std::byte> bytes;
  };
  // A link between a rank of this node and a rank of another node.
  struct node_link {
    int node, owner, reader;  // the other node
    index_list owned, ghosts;
    std::size_t first = 0;  // the number of its first contribution, in the order of links
  };
  // The links of an owner with the ranks of a node, and the elements that cross, each once.
  struct owner_crossing {
    int node, owner;
    std::vector<node_link> links;
    index_list elements;
    std::size_t first = 0;  // the number of its first element, in the order of crossings
  };
  // All elements and contributions that cross between this node and another.
  struct of_node {
    int node;
    index_list elements, contributions;
  };
  // Both ends derive the same order, by nodes, owners and readers.
  struct crossings {
    std::vector<owner_crossing> list;
    std::vector<of_node> nodes;
    std::size_t elements = 0, contributions = 0;
  };
  [[nodiscard]] static crossings crossings_of(std::vector<node_link> links);
  [[nodiscard]] messages outgoing(std::map<int, std::vector<std::byte>> by_rank);
  [[nodiscard]] std::vector<from_rank> incoming(messages received);

  // Returns the rank of `node` that has number `other` modulo the number of ranks of `node`. With 3
  // steps, `other` is a node, and the result is the gateway or collector for it. With 2 steps,
  // `other` is the owner's place in its node, and the result is the gateway.
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
  std::shared_ptr<messenger> node_messenger_;
  std::vector<std::byte> own_message_;     // of this rank to itself
  std::vector<node_link> wanted_, given_;  // links of this rank with other nodes, in their order
  std::vector<round_builder> update_, accumulate_;
  std::vector<std::size_t> buffer_elements_;
  // What this rank tells each mate: places of elements at this gateway, and of contributions at
  // this collector.
  struct told_places {
    std::vector<std::uint32_t> elements, contributions;
  };
  std::map<int, told_places> told_;
};

}  // namespace longshore::detail

// aggregator: an engine with one stream of messages per pair of nodes, which all ranks of the two
// nodes share. No scheme makes messages fewer and fuller: aggregators of Chapel have a buffer per
// core and node; conveyors and YGM have a stream per pair of ranks or more.
#pragma once

#include <longshore/aggregate/conveyor.hpp>

namespace longshore {

/// A conveyor with 3 hops: to the rank of the same node that owns the stream to the destination's
/// node, to that node, to the destination. The ranks of a node own its streams in turn. Groups are
/// always the nodes. Links per rank on the 3 hops, with L ranks per node and N nodes: up to L - 1;
/// N / L (if L > N, one rank in L / N has one link, and the other ranks have none); L.
///
/// One hop is enough on one node, where no message leaves the node; between nodes of one rank,
/// where a pair of ranks is a pair of nodes; and with few ranks, of which each fills a buffer for
/// every other. The engine then is a conveyor of one hop.
class aggregator : public conveyor {
 public:
  /// Collective.
  aggregator(team& team, engine_options options)
      : conveyor(team, (options.hops = hops_on(team.nodes()), options.one_stream = true, options)) {
  }

  /// Up to so many ranks, one hop is faster: each further hop copies every item once more, and an
  /// item waits at each relaying rank until that rank has a core.
  static constexpr int max_ranks_of_one_hop = 128;

  [[nodiscard]] static int hops_on(const node_map& nodes) noexcept {
    return nodes.node_count() > 1 && nodes.largest_node() > 1 &&
                   nodes.rank_count() > max_ranks_of_one_hop
               ? 3
               : 1;
  }
};

}  // namespace longshore

// aggregator: one stream of messages per pair of nodes, shared by all their ranks. For short
// messages nothing sends fewer and fuller ones: Chapel's aggregators have a buffer per core and
// node, those of conveyors and YGM a stream per pair of ranks or more.
#pragma once

#include <longshore/aggregate/conveyor.hpp>

namespace longshore {

/// conveyor (which see) with 3 hops: to the rank of the own node that owns the stream to the
/// destination's node, to that node, to the destination. The streams of a node are owned by its
/// ranks in turn. The groups are always the nodes. Links per rank, L ranks per node and N nodes: up
/// to L - 1, N / L (one rank in L / N has one, where L > N), and L.
class aggregator : public conveyor {
 public:
  /// Collective.
  aggregator(team& team, engine_options options)
      : conveyor(team, (options.hops = 3, options.one_stream = true, options)) {}
};

}  // namespace longshore

// aggregator: an engine with one stream of messages per pair of nodes, which all ranks of the two
// nodes share. No scheme makes short messages fewer and fuller: aggregators of Chapel have a buffer
// per core and node; conveyors and YGM have a stream per pair of ranks or more.
#pragma once

#include <longshore/aggregate/conveyor.hpp>

namespace longshore {

/// A conveyor with 3 hops: to the rank of the same node that owns the stream to the destination's
/// node, to that node, to the destination. The ranks of a node own its streams in turn. Groups are
/// always the nodes. Links per rank on the 3 hops, with L ranks per node and N nodes: up to L - 1;
/// N / L (if L > N, one rank in L / N has one link, and the other ranks have none); L.
class aggregator : public conveyor {
 public:
  /// Collective.
  aggregator(team& team, engine_options options)
      : conveyor(team, (options.hops = 3, options.one_stream = true, options)) {}
};

}  // namespace longshore

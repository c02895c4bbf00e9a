// exstack2: asynchronous aggregation over one hop, with credits per pair of ranks: the slots of a
// channel. The name and the contract are those of exstack2 in bale; its rings of notices and its
// atomics have become channels.
#pragma once

#include <longshore/aggregate/conveyor.hpp>

namespace longshore {

/// conveyor (which see) with 1 hop: no tags, no relays, P links per rank. Best where ranks are few
/// or memory is plenty.
class exstack2 : public conveyor {
 public:
  /// Collective.
  exstack2(team& team, engine_options options) : conveyor(team, (options.hops = 1, options)) {}
};

}  // namespace longshore

// exstack2: asynchronous aggregation over one hop, with credits per pair of ranks (the slots of a
// channel). Name and contract are those of exstack2 in bale; channels replace its rings of notices
// and its atomics.
#pragma once

#include <longshore/aggregate/conveyor.hpp>

namespace longshore {

/// A conveyor with 1 hop: no tags, no relaying, and P links per rank for P ranks. Best with few
/// ranks or much memory.
class exstack2 : public conveyor {
 public:
  /// Collective.
  exstack2(team& team, engine_options options) : conveyor(team, (options.hops = 1, options)) {}
};

}  // namespace longshore

// Statistics of the engines of a plan or of a stream, for requests and replies separately.
#pragma once

#include <longshore/aggregate/engine_stats.hpp>

namespace longshore {

/// The messages of one rank since the plan or stream was made. `hops` is empty with strategies that
/// do not aggregate (agp and direct); `replies` is empty for scatter and updates.
struct exchange_stats {
  engine_stats requests = {}, replies = {};

  exchange_stats& operator+=(const exchange_stats& more);
  /// The difference to `earlier`, which must be of the same plan.
  [[nodiscard]] exchange_stats operator-(const exchange_stats& earlier) const;
};

}  // namespace longshore

// Statistics of a plan or a stream: those of its engines, requests and replies apart.
#pragma once

#include <longshore/aggregate/engine_stats.hpp>

namespace longshore {

/// What one rank did since the plan or stream was made. There are no hops if no messages are
/// aggregated (strategies agp and direct), and no replies if nothing comes back (scatter, updates).
struct exchange_stats {
  engine_stats requests = {}, replies = {};

  exchange_stats& operator+=(const exchange_stats& more);
  /// What the plan did since `earlier`, which must be of the same plan.
  [[nodiscard]] exchange_stats operator-(const exchange_stats& earlier) const;
};
using exchange_report [[deprecated("use exchange_stats")]] = exchange_stats;

}  // namespace longshore

// What happened in a plan or a stream: the reports of its engines, requests and replies apart.
#pragma once

#include <longshore/aggregate/hop_report.hpp>

namespace longshore {

/// Of one rank, since the plan or stream was made. Without hops where no messages are aggregated
/// (strategies agp and direct), without replies where nothing comes back (scatter, updates).
struct exchange_report {
  engine_report requests = {}, replies = {};

  exchange_report& operator+=(const exchange_report& more);
  /// What came since `earlier`, of the same plan.
  [[nodiscard]] exchange_report operator-(const exchange_report& earlier) const;
};

}  // namespace longshore

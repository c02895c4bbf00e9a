// Times one repetition on all ranks.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/measurement.hpp"
#include "harness/run_counters.hpp"

namespace longshore::bench {

/// Collective. After a barrier, times `iterations` operations. Returns the statistics of all ranks
/// on each rank. With `counters`, adds the counts of that time to `counts`.
[[nodiscard]] repetition time_repetition(team& team, measurement& measured, long iterations,
                                         run_counters* counters = nullptr,
                                         run_counts* counts = nullptr);

/// Collective. The number of operations, at least 1, that last about `seconds` on the slowest rank,
/// measured by running them. The result is the same on all ranks.
[[nodiscard]] long calibrate(team& team, measurement& measured, double seconds);

}  // namespace longshore::bench

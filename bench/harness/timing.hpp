// Times one repetition on all ranks.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/measurement.hpp"
#include "harness/run_counters.hpp"

namespace longshore::bench {

/// Collective. Barrier, clock, `iterations` operations, clock. Seconds of one operation. The result is the same on all ranks.
/// With `counters`, what happens in that time is added to `counted`.
[[nodiscard]] repetition time_repetition(team& team, measurement& what, long iterations, run_counters* counters = nullptr,
                                         run_counts* counted = nullptr);

/// Collective. How many operations last about `seconds` on the slowest rank, at least 1; by trying. The same on all ranks.
[[nodiscard]] long calibrate(team& team, measurement& what, double seconds);

}  // namespace longshore::bench

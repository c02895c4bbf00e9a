// Times one repetition on all ranks.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/measurement.hpp"
#include "harness/run_counters.hpp"

namespace longshore::bench {

/// Collective. Barrier, clock, `iterations` operations, clock. Returns the seconds of one
/// operation, the same on all ranks. With `counters`, adds the counts of that time to `counted`.
[[nodiscard]] repetition time_repetition(team& team, measurement& what, long iterations,
                                         run_counters* counters = nullptr,
                                         run_counts* counted = nullptr);

/// Collective. The number of operations, at least 1, that last about `seconds` on the slowest rank;
/// found by trying. The same on all ranks.
[[nodiscard]] long calibrate(team& team, measurement& what, double seconds);

}  // namespace longshore::bench

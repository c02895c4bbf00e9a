// The clock and the stop-watch: what the clock can tell apart, and how one repetition is timed on all ranks.
#pragma once

#include <longshore/transport/team.hpp>

#include "benchmark.hpp"
#include "run_account.hpp"
#include "statistics.hpp"

namespace longshore::bench {

struct clock_facts {
  double resolution_seconds = 0;  ///< smallest step that two readings in a row have shown
  double overhead_seconds = 0;    ///< of one reading
};

/// Measures the clock of the team. The same on all ranks: the coarsest of theirs.
[[nodiscard]] clock_facts measure_clock(team& team);

/// Collective. Barrier, clock, `iterations` operations, clock. Seconds of one operation. The result is the same on all ranks.
/// With `counters`, what happens in that time is added to `counted`.
[[nodiscard]] repetition time_repetition(team& team, measurement& what, long iterations, run_counters* counters = nullptr,
                                         counted_runs* counted = nullptr);

/// Collective. How many operations last about `seconds` on the slowest rank, at least 1; by trying. The same on all ranks.
[[nodiscard]] long calibrate(team& team, measurement& what, double seconds);

}  // namespace longshore::bench

// Member `engine` in the records of pattern gather: the statistics of the aggregation in the timed
// repetitions of a variant. Strategies that aggregate send requests, and in a gather also replies,
// through an exstack or an engine, which counts messages and waits for each hop.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/aggregate/engine_stats.hpp>
#include <longshore/transport/team.hpp>

namespace longshore::bench {

/// Adds up the statistics of one rank; collect_facts() combines the sums of all ranks.
class engine_facts {
 public:
  /// Call begin() before each repetition, timed or not. `stats` are the statistics so far.
  void begin(exchange_stats stats) { begin_ = std::move(stats); }
  /// Call end() after a timed repetition of `iterations` operations.
  void end(const exchange_stats& stats, const repetition& seconds, long iterations);
  /// Collective. Returns an object with the member `engine` (docs/reference/records.md), or an
  /// empty object if the strategy does not aggregate or nothing was timed. REQUIRES: all ranks use
  /// the same strategy and timed the same repetitions.
  [[nodiscard]] json facts(team& ranks);

 private:
  exchange_stats begin_, timed_;
  long repetitions_ = 0, operations_ = 0;
  double seconds_ = 0;  // duration of all operations together, as the mean over the ranks
};

}  // namespace longshore::bench

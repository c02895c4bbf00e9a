// Counts of the aggregation engines in the timed repetitions of one variant: member `engine` of a
// result's record.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/gather/exchange_stats.hpp>
#include <longshore/transport/team.hpp>

namespace longshore::bench {

/// The counts of one rank; facts() combines all ranks.
class engine_facts {
 public:
  /// Before each repetition, timed or not: `now` are the counts so far.
  void begin(exchange_stats now) { before_ = std::move(now); }
  /// After a timed repetition of `iterations` operations.
  void end(const exchange_stats& now, const repetition& seconds, long iterations);
  /// Collective. See docs/reference/records.md. Without `engine` if nothing was aggregated.
  [[nodiscard]] json facts(team& ranks);

 private:
  exchange_stats before_, timed_;
  long repetitions_ = 0, operations_ = 0;
  double seconds_ = 0;  // of all operations, mean over the ranks
};

}  // namespace longshore::bench

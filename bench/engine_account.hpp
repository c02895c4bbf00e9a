// What aggregation engines did in the timed repetitions of one variant, of all ranks: member `engine` of a result's record.
#pragma once

#include "benchmark.hpp"
#include "statistics.hpp"

#include <longshore/gather/exchange_report.hpp>

namespace longshore::bench {

/// One rank's share; facts() puts those of all ranks together.
class engine_account {
 public:
  /// Before each repetition, timed or not: what was counted until then.
  void begin(exchange_report now) { before_ = std::move(now); }
  /// After a timed one, of so many operations.
  void end(const exchange_report& now, const repetition& seconds, long iterations);
  /// Collective. See docs/reference/records.md; without `engine` where nothing was aggregated.
  [[nodiscard]] json facts(team& ranks);

 private:
  exchange_report before_, timed_;
  long repetitions_ = 0, operations_ = 0;
  double seconds_ = 0;  // of all operations, mean over the ranks
};

}  // namespace longshore::bench

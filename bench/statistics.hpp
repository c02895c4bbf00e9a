// From the seconds of repetitions and ranks to the few numbers that are recorded.
#pragma once

#include "benchmark.hpp"

#include <span>
#include <vector>

namespace longshore::bench {

/// One timed repetition: seconds of one operation, over the ranks.
struct repetition {
  double max = 0, median = 0, min = 0, mean = 0;
  std::vector<std::pair<std::string, double>> phases;  ///< maximum over ranks
  std::vector<double> least_of_phases;                 ///< minimum over ranks, in the order of phases
};

/// Quantile q in [0, 1], interpolated between the two values beside it (Hyndman and Fan 1996, type 7). REQUIRES: not empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// One repetition from what each rank measured. REQUIRES: not empty.
[[nodiscard]] repetition over_ranks(std::vector<double> seconds);

/// REQUIRES: not empty, and the same phases in all. By phase the median over repetitions of the minimum over ranks: of a phase that
/// all end together this is the time since the last of them began it.
[[nodiscard]] std::vector<std::pair<std::string, double>> least_of_phases(std::span<const repetition> all);

/// REQUIRES: not empty, and the same phases in all.
[[nodiscard]] summary over_repetitions(std::span<const repetition> all);

}  // namespace longshore::bench

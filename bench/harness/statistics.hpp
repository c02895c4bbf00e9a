// From the seconds of repetitions and ranks to the few numbers that are recorded.
#pragma once

#include "harness/measurement.hpp"

#include <span>
#include <vector>

namespace longshore::bench {

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

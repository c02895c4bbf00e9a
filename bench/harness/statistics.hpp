// From the seconds of repetitions and ranks to the recorded numbers.
#pragma once

#include "harness/measurement.hpp"

#include <span>
#include <vector>

namespace longshore::bench {

/// Quantile q in [0, 1], interpolated between the two nearest values (Hyndman and Fan 1996, type
/// 7). REQUIRES: not empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// One repetition, from the seconds of each rank. REQUIRES: not empty.
[[nodiscard]] repetition over_ranks(std::vector<double> seconds);

/// By phase: the median over repetitions of the minimum over ranks. In a phase that all ranks end
/// together, this is the time since the last of them began it. REQUIRES: not empty, and the same
/// phases in all.
[[nodiscard]] std::vector<std::pair<std::string, double>> least_of_phases(
    std::span<const repetition> all);

/// REQUIRES: not empty, and the same phases in all.
[[nodiscard]] summary over_repetitions(std::span<const repetition> all);

}  // namespace longshore::bench

// Condenses the seconds of ranks to a repetition, and repetitions to the recorded numbers.
#pragma once

#include "harness/measurement.hpp"

#include <span>
#include <vector>

namespace longshore::bench {

/// Quantile q in [0, 1], interpolated between the two nearest values (Hyndman and Fan 1996, type
/// 7). REQUIRES: not empty.
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// Statistics of one repetition without its phases. REQUIRES: not empty.
[[nodiscard]] repetition repetition_of(std::vector<double> seconds_of_ranks);

/// Median over repetitions of phase_minima or phase_means, by name of the phase. In a phase that all
/// ranks end together, the minimum is the time since the last rank began the phase. REQUIRES: not
/// empty, and the same phases in all repetitions.
[[nodiscard]] phase_seconds median_phases(std::span<const repetition> repetitions,
                                          std::vector<double> repetition::*seconds);

/// REQUIRES: not empty, and the same phases in all repetitions.
[[nodiscard]] summary summary_of(std::span<const repetition> repetitions);

}  // namespace longshore::bench

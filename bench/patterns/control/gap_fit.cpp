// The weighted least squares of a line, solved in closed form.
#include "patterns/control/gap_fit.hpp"

#include <algorithm>

namespace longshore::bench {
namespace {

// A gap of up to this many overheads may be the gap of the processor, which also handles the
// credits of a channel.
constexpr double overheads_of_processor_gap = 1.25;

fitted_gap fit_longer(std::span<const gap_of_size> gaps, double shortest) {
  // Weighted least squares of seconds = g + (bytes - 1) G with weights 1 / seconds^2.
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [bytes, seconds] : gaps) {
    if (!(seconds > shortest)) continue;
    const double weight = 1 / (seconds * seconds), x = bytes - 1;
    w += weight;
    wx += weight * x;
    wy += weight * seconds;
    wxx += weight * x * x;
    wxy += weight * x * seconds;
  }
  const double determinant = w * wxx - wx * wx;
  if (!(determinant > 0)) return {};
  return {(wxx * wy - wx * wxy) / determinant, (w * wxy - wx * wy) / determinant};
}

}  // namespace

fitted_gap fit_gaps(std::span<const gap_of_size> gaps, double overhead_seconds) {
  const double shortest = overheads_of_processor_gap * overhead_seconds;
  const auto is_longer = [&](const gap_of_size& gap) { return gap.seconds > shortest; };
  const auto measured = std::count_if(gaps.begin(), gaps.end(),
                                      [](const gap_of_size& gap) { return gap.seconds > 0; });
  const auto longer = std::count_if(gaps.begin(), gaps.end(), is_longer);
  if (longer < 2 || longer == measured) return fit_longer(gaps, 0);
  fitted_gap fitted = fit_longer(gaps, shortest);
  fitted.per_message_seconds = std::max(fitted.per_message_seconds, overhead_seconds);
  return fitted;
}

}  // namespace longshore::bench

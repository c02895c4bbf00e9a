// The weighted least squares of a line, solved in closed form.
#include "patterns/control/gap_fit.hpp"

namespace longshore::bench {

fitted_gap fit_gaps(std::span<const gap_of_size> gaps) {
  // Weighted least squares of seconds = g + (bytes - 1) G with weights 1 / seconds^2.
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [bytes, seconds] : gaps) {
    if (!(seconds > 0)) continue;
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

}  // namespace longshore::bench

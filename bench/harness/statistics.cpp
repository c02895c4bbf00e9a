#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace longshore::bench {

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

repetition over_ranks(std::vector<double> seconds) {
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  repetition one;
  one.min = *least;
  one.max = *most;
  one.mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  one.median = quantile(std::move(seconds), 0.5);
  return one;
}

std::vector<std::pair<std::string, double>> least_of_phases(std::span<const repetition> all) {
  std::vector<std::pair<std::string, double>> found;
  for (std::size_t phase = 0; phase < all.front().least_of_phases.size(); ++phase) {
    std::vector<double> seconds;
    for (const auto& one : all) seconds.push_back(one.least_of_phases[phase]);
    found.emplace_back(all.front().phases[phase].first, quantile(std::move(seconds), 0.5));
  }
  return found;
}

summary over_repetitions(std::span<const repetition> all) {
  std::vector<double> slowest, mean;
  for (const auto& one : all) {
    slowest.push_back(one.max);
    mean.push_back(one.mean);
  }
  summary result;
  result.median = quantile(slowest, 0.5);
  result.p10 = quantile(slowest, 0.1);
  result.p90 = quantile(slowest, 0.9);
  result.best = *std::min_element(slowest.begin(), slowest.end());
  result.mean_over_ranks_median = quantile(mean, 0.5);
  for (std::size_t phase = 0; phase < all.front().phases.size(); ++phase) {
    std::vector<double> seconds;
    for (const auto& one : all) seconds.push_back(one.phases[phase].second);
    result.phases.emplace_back(all.front().phases[phase].first, quantile(std::move(seconds), 0.5));
  }
  return result;
}

}  // namespace longshore::bench

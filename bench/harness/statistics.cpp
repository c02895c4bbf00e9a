// Quantiles, and the summaries of repetitions that are made of quantiles.
#include "harness/statistics.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace longshore::bench {

namespace {

// The median over repetitions of `value(repetition)`.
template <class Value>
double median_of(std::span<const repetition> repetitions, const Value& value) {
  std::vector<double> values;
  for (const auto& repetition : repetitions) values.push_back(value(repetition));
  return quantile(std::move(values), 0.5);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

repetition repetition_of(std::vector<double> seconds_of_ranks) {
  const auto [min, max] = std::minmax_element(seconds_of_ranks.begin(), seconds_of_ranks.end());
  const double sum = std::accumulate(seconds_of_ranks.begin(), seconds_of_ranks.end(), 0.0);
  return {.max = *max,
          .median = quantile(seconds_of_ranks, 0.5),
          .min = *min,
          .mean = sum / static_cast<double>(seconds_of_ranks.size())};
}

phase_seconds median_phases(std::span<const repetition> repetitions,
                            std::vector<double> repetition::*seconds) {
  phase_seconds medians;
  const auto& first = repetitions.front();
  for (std::size_t i = 0; i < first.phases.size(); ++i)
    medians.emplace_back(first.phases[i].first, median_of(repetitions, [&](const repetition& r) {
                           return (r.*seconds)[i];
                         }));
  return medians;
}

summary summary_of(std::span<const repetition> repetitions) {
  std::vector<double> maxima;
  for (const auto& repetition : repetitions) maxima.push_back(repetition.max);
  summary result;
  result.median = quantile(maxima, 0.5);
  result.p10 = quantile(maxima, 0.1);
  result.p90 = quantile(maxima, 0.9);
  result.best = *std::min_element(maxima.begin(), maxima.end());
  result.mean_over_ranks_median =
      median_of(repetitions, [](const repetition& r) { return r.mean; });
  const auto& first = repetitions.front();
  for (std::size_t i = 0; i < first.phases.size(); ++i)
    result.phases.emplace_back(first.phases[i].first, median_of(repetitions, [i](const auto& r) {
                                 return r.phases[i].second;
                               }));
  return result;
}

}  // namespace longshore::bench

#include "harness/timing.hpp"

#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace longshore::bench {
namespace {

constexpr long most_iterations = 10'000'000;
constexpr double surely_long = 20;  // times the wanted seconds

}  // namespace

repetition time_repetition(team& team, measurement& what, long iterations, run_counters* counters,
                           run_counts* counted) {
  what.reset();
  if (counters != nullptr)
    counters->start();
  else
    team.barrier();
  const double start = team.now();
  for (long i = 0; i < iterations; ++i) what.run();
  const double stop = team.now();
  if (counters != nullptr) counters->stop(what, iterations, *counted);

  const auto phases = what.phases();
  std::vector<double> mine{(stop - start) / static_cast<double>(iterations)};
  for (const auto& phase : phases) mine.push_back(phase.second);
  std::vector<double> all(mine.size() * static_cast<std::size_t>(team.size()));
  team.allgather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));

  const auto of_all_ranks = [&](std::size_t column) {
    std::vector<double> values;
    for (std::size_t i = column; i < all.size(); i += mine.size()) values.push_back(all[i]);
    return values;
  };
  repetition one = over_ranks(of_all_ranks(0));
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const auto seconds = of_all_ranks(phase + 1);
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    one.phases.emplace_back(phases[phase].first, *most);
    one.least_of_phases.push_back(*least);
  }
  return one;
}

long calibrate(team& team, measurement& what, double seconds) {
  if (!what.repeatable()) return 1;
  for (long iterations = 1;;) {
    const auto once_more = [&] {
      return time_repetition(team, what, iterations).max * static_cast<double>(iterations);
    };
    double lasted = once_more();
    // A single disturbance would look like a long operation and yield too few of them. Only a time
    // that is seen twice, or is clearly longer, counts.
    if (lasted >= seconds / 4 && lasted < surely_long * seconds)
      lasted = std::min(lasted, once_more());
    if (lasted >= seconds || iterations >= most_iterations) return iterations;
    if (lasted >= seconds / 4)
      return std::min(most_iterations,
                      std::lround(std::ceil(static_cast<double>(iterations) * seconds / lasted)));
    // Too short to extrapolate: the first operations are slower
    iterations = std::min(most_iterations, iterations * 4);
  }
}

}  // namespace longshore::bench

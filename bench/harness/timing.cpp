// Times a repetition on each rank and shares the times with all ranks. Calibration times more and
// more operations until they last long enough.
#include "harness/timing.hpp"

#include <longshore/core/clock.hpp>
#include <longshore/transport/cost_sink.hpp>

#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace longshore::bench {
namespace {

constexpr long max_iterations_tried = 10'000'000;
// A time of at least this multiple of the wanted seconds is not measured a second time.
constexpr double surely_long = 20;

}  // namespace

repetition time_repetition(team& team, measurement& measured, long iterations,
                           run_counters* counters, run_counts* counts) {
  measured.reset();
  if (counters != nullptr)
    counters->start();
  else
    team.barrier();
  const double real_start = monotonic_seconds();
  const std::uint64_t events = team.costs() != nullptr ? team.costs()->events() : 0;
  const double start = team.now();
  for (long i = 0; i < iterations; ++i) measured.run();
  const double stop = team.now();
  if (counters != nullptr) counters->stop(measured, iterations, *counts);

  // One row per rank: the seconds of an operation, and then the seconds of each phase.
  const auto phases = measured.phases();
  std::vector<double> of_this_rank{(stop - start) / static_cast<double>(iterations)};
  for (const auto& phase : phases) of_this_rank.push_back(phase.second);
  const std::size_t columns = of_this_rank.size();
  std::vector<double> of_ranks(columns * static_cast<std::size_t>(team.size()));
  team.allgather(std::as_bytes(std::span(of_this_rank)),
                 std::as_writable_bytes(std::span(of_ranks)));

  const auto column_of_ranks = [&](std::size_t column) {
    std::vector<double> values;
    for (std::size_t i = column; i < of_ranks.size(); i += columns) values.push_back(of_ranks[i]);
    return values;
  };
  repetition timed = repetition_of(column_of_ranks(0));
  if (team.costs() != nullptr) {  // all ranks have come to the end of the repetition
    timed.real_seconds = (monotonic_seconds() - real_start) / static_cast<double>(iterations);
    timed.events =
        static_cast<double>(team.costs()->events() - events) / static_cast<double>(iterations);
  }
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const auto seconds = repetition_of(column_of_ranks(phase + 1));
    timed.phases.emplace_back(phases[phase].first, seconds.max);
    timed.phase_minima.push_back(seconds.min);
    timed.phase_means.push_back(seconds.mean);
  }
  return timed;
}

long calibrate(team& team, measurement& measured, double seconds) {
  if (!measured.repeatable()) return 1;
  for (long iterations = 1;;) {
    const auto time_iterations = [&] {
      return time_repetition(team, measured, iterations).max * static_cast<double>(iterations);
    };
    double lasted = time_iterations();
    // A single disturbance would look like a long operation, and the result would be too small. So
    // a time counts only if it occurs twice or is much longer than `seconds`.
    if (lasted >= seconds / 4 && lasted < surely_long * seconds)
      lasted = std::min(lasted, time_iterations());
    if (lasted >= seconds || iterations >= max_iterations_tried) return iterations;
    if (lasted >= seconds / 4)
      return std::min(max_iterations_tried,
                      std::lround(std::ceil(static_cast<double>(iterations) * seconds / lasted)));
    // Too short to extrapolate, because the first operations are slower
    iterations = std::min(max_iterations_tried, iterations * 4);
  }
}

}  // namespace longshore::bench

// Reads the clock many times in a row: the smallest step is its resolution, and the mean duration
// of a reading is its cost.
#include "facts/clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace longshore::bench {
namespace {

constexpr int readings = 20'000;

}  // namespace

clock_facts measure_clock(team& team) {
  if (team.costs() != nullptr) return {};  // computed time: no steps, and free of cost
  double smallest_step = std::numeric_limits<double>::infinity();
  const double start = team.now();
  double last = start;
  for (int i = 0; i < readings; ++i) {
    const double now = team.now();
    if (now > last) smallest_step = std::min(smallest_step, now - last);
    last = now;
  }
  clock_facts facts;
  facts.overhead_seconds = (last - start) / readings;
  // A computed or very coarse clock may not have moved: then its resolution is unknown.
  facts.resolution_seconds = std::isfinite(smallest_step) ? smallest_step : 0;
  facts.resolution_seconds = team.allreduce_value(facts.resolution_seconds, reduction::max);
  facts.overhead_seconds = team.allreduce_value(facts.overhead_seconds, reduction::max);
  return facts;
}

}  // namespace longshore::bench

// Measures which of several candidates is fastest, for strategies `auto` of patterns.
#pragma once

#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace longshore::detail {

/// Limits of the cost of turns.
struct turn_limits {
  std::size_t first_turns = 2;  ///< turns of every candidate
  std::size_t turns = 7;        ///< turns of a candidate that is not dropped, first turns included
  /// Limit for all turns after the first ones. One of them is taken in any case.
  double more_seconds = std::numeric_limits<double>::infinity();
  /// Calls of each candidate in one turn; if empty, one call. Times are those of one call.
  std::vector<int> calls = {};
};

/// The times of the turns of one candidate, ascending. A dropped candidate has fewer than others.
struct turn_times {
  std::vector<double> seconds = {};
  /// Disturbances only make turns longer, but one lucky turn must not decide.
  [[nodiscard]] double lower_quartile() const { return seconds[(seconds.size() - 1) / 4]; }
};

/// Collective. Calls run(i) for the candidates i by turns, after a barrier each time. The time of a
/// turn is that of the slowest rank. After the first turns, candidates whose shortest time is more
/// than 1.5 times the best are dropped. The others get more turns. All ranks get the same times.
template <class Run>
[[nodiscard]] std::vector<turn_times> time_by_turns(team& ranks, std::size_t candidates,
                                                    const Run& run,
                                                    const turn_limits& limits = {}) {
  constexpr double max_ratio = 1.5;
  std::vector<turn_times> measured(candidates);
  std::vector<std::size_t> remaining(candidates);
  std::iota(remaining.begin(), remaining.end(), std::size_t{0});
  const auto calls = [&](std::size_t i) { return limits.calls.empty() ? 1 : limits.calls[i]; };
  const auto take_turns = [&](std::size_t turns) {
    std::vector<double> times;  // of all turns, for one allreduce
    for (std::size_t turn = 0; turn < turns; ++turn)
      for (const std::size_t i : remaining) {
        ranks.barrier();
        const double began = ranks.now();
        for (int call = 0; call < calls(i); ++call) run(i);
        times.push_back((ranks.now() - began) / calls(i));
      }
    ranks.allreduce(std::span<double>(times), reduction::max);
    for (std::size_t k = 0; k < times.size(); ++k)
      measured[remaining[k % remaining.size()]].seconds.push_back(times[k]);
    for (const std::size_t i : remaining)
      std::sort(measured[i].seconds.begin(), measured[i].seconds.end());
  };

  take_turns(limits.first_turns);
  double best = std::numeric_limits<double>::infinity(), turn_seconds = 0;
  for (const auto& times : measured) best = std::min(best, times.seconds.front());
  std::erase_if(remaining,
                [&](std::size_t i) { return measured[i].seconds.front() > max_ratio * best; });
  if (remaining.size() <= 1 || limits.turns <= limits.first_turns) return measured;
  for (const std::size_t i : remaining) turn_seconds += measured[i].seconds.front() * calls(i);
  const double affordable = std::clamp(limits.more_seconds / std::max(turn_seconds, 1e-9), 1.0,
                                       static_cast<double>(limits.turns - limits.first_turns));
  take_turns(static_cast<std::size_t>(affordable));
  return measured;
}

/// Collective. Returns the candidate with the smallest lower quartile in time_by_turns() among
/// those that were not dropped. All ranks get the same answer.
template <class Run>
[[nodiscard]] std::size_t fastest_by_turns(team& ranks, std::size_t candidates, const Run& run,
                                           const turn_limits& limits = {}) {
  const auto measured = time_by_turns(ranks, candidates, run, limits);
  const auto fastest = std::min_element(measured.begin(), measured.end(),
                                        [](const turn_times& a, const turn_times& b) {
                                          if (a.seconds.size() != b.seconds.size())
                                            return a.seconds.size() > b.seconds.size();
                                          return a.lower_quartile() < b.lower_quartile();
                                        });
  return static_cast<std::size_t>(fastest - measured.begin());
}

}  // namespace longshore::detail

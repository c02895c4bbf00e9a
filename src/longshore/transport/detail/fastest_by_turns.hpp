// Measures which of several candidates is fastest, for strategies `auto` of patterns.
#pragma once

#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace longshore::detail {

/// What bounds the cost of fastest_by_turns.
struct turn_limits {
  std::size_t first_turns = 2;  ///< of every candidate
  std::size_t turns = 7;        ///< of a candidate that is not dropped, the first ones included
  /// For the turns after the first ones; one of them is taken in any case.
  double more_seconds = std::numeric_limits<double>::infinity();
};

/// Collective. Calls run(i) for the candidates i by turns, after a barrier each time. The time of a
/// turn is that of the slowest rank. After the first turns, candidates are dropped whose shortest
/// time is more than 1.5 times the best: the turns of the others tell more. Returns the candidate
/// with the smallest lower quartile: disturbances only make turns longer, but one lucky turn must
/// not decide. All ranks get the same answer.
template <class Run>
[[nodiscard]] std::size_t fastest_by_turns(team& ranks, std::size_t candidates, const Run& run,
                                           const turn_limits& limits = {}) {
  constexpr double max_ratio = 1.5;
  std::vector<std::vector<double>> seconds(candidates);
  std::vector<std::size_t> remaining(candidates);
  std::iota(remaining.begin(), remaining.end(), std::size_t{0});
  const auto take_turns = [&](std::size_t turns) {
    std::vector<double> times;  // of all turns, so that ranks agree on them together
    for (std::size_t turn = 0; turn < turns; ++turn)
      for (const std::size_t i : remaining) {
        ranks.barrier();
        const double began = ranks.now();
        run(i);
        times.push_back(ranks.now() - began);
      }
    ranks.allreduce(std::span<double>(times), reduction::max);
    for (std::size_t k = 0; k < times.size(); ++k)
      seconds[remaining[k % remaining.size()]].push_back(times[k]);
    for (const std::size_t i : remaining) std::sort(seconds[i].begin(), seconds[i].end());
  };

  take_turns(limits.first_turns);
  double best = std::numeric_limits<double>::infinity();
  for (const auto& times : seconds) best = std::min(best, times.front());
  std::erase_if(remaining, [&](std::size_t i) { return seconds[i].front() > max_ratio * best; });
  if (remaining.size() == 1) return remaining.front();
  double turn_seconds = 0;
  for (const std::size_t i : remaining) turn_seconds += seconds[i].front();
  const double affordable = std::clamp(limits.more_seconds / std::max(turn_seconds, 1e-9), 1.0,
                                       static_cast<double>(limits.turns - limits.first_turns));
  take_turns(static_cast<std::size_t>(affordable));
  const auto lower_quartile = [&](std::size_t i) {
    return seconds[i][(seconds[i].size() - 1) / 4];
  };
  return *std::min_element(remaining.begin(), remaining.end(), [&](std::size_t a, std::size_t b) {
    return lower_quartile(a) < lower_quartile(b);
  });
}

}  // namespace longshore::detail

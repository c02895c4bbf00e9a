// Measures which of several candidates is fastest, for strategies `auto` of patterns.
#pragma once

#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace longshore::detail {

/// Collective. Calls run(i) for each candidate i, by turns, 7 times, after a barrier each time.
/// Returns the candidate whose shortest time is the least, where a time is that of the slowest
/// rank. All ranks get the same answer.
template <class Run>
[[nodiscard]] std::size_t fastest_by_turns(team& ranks, std::size_t candidates, const Run& run) {
  constexpr int trials = 7;
  std::vector<double> seconds;  // of all trials, so that ranks agree on them together
  for (int trial = 0; trial < trials; ++trial)
    for (std::size_t i = 0; i < candidates; ++i) {
      ranks.barrier();
      const double began = ranks.now();
      run(i);
      seconds.push_back(ranks.now() - began);
    }
  ranks.allreduce(std::span<double>(seconds), reduction::max);
  std::vector<double> shortest(candidates, std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < seconds.size(); ++k)
    shortest[k % candidates] = std::min(shortest[k % candidates], seconds[k]);
  return static_cast<std::size_t>(std::min_element(shortest.begin(), shortest.end()) -
                                  shortest.begin());
}

}  // namespace longshore::detail

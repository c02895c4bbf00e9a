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
  std::vector<double> shortest(candidates, std::numeric_limits<double>::infinity());
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < candidates; ++i) {
      ranks.barrier();
      const double began = ranks.now();
      run(i);
      seconds.push_back(ranks.now() - began);
    }
    ranks.allreduce(std::span<double>(seconds), reduction::max);
    for (std::size_t i = 0; i < candidates; ++i) shortest[i] = std::min(shortest[i], seconds[i]);
  }
  return static_cast<std::size_t>(std::min_element(shortest.begin(), shortest.end()) -
                                  shortest.begin());
}

}  // namespace longshore::detail

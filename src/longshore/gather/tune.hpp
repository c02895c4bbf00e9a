// How strategy auto measures: all candidates by turns at three sizes, the slow ones given up early, the whole within a budget of time.
#pragma once

#include <longshore/gather/choice.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace longshore::gathering {

/// One candidate, made ready: does the first `requests` of the tuning's own requests. Collective.
using tuning_run = std::function<void(std::size_t requests)>;
/// Collective. Makes a candidate ready. Throws, on all ranks, errc::out_of_memory, unsupported or usage where it cannot be had: it is then
/// left out.
using tuning_make = std::function<tuning_run(const gather_choice&)>;

struct tuning_limits {
  double seconds = 0.6;                      ///< for the turns; what has begun is ended
  std::size_t most_requests = 1'000'000;     ///< that the candidates have indices for
};

/// Collective; the same arguments and the same result on all ranks. Each candidate is called once per class of requests, untimed, then in
/// turns with the others: at most 9, medians of the slowest rank's time. Given up are, after the call that is not timed, those at 20
/// times the best, after 1 turn those at twice the best, after 3 those at 1.25 times; and of a class of more requests those that were
/// far behind in the class before. Smaller classes leave time to the larger ones.
/// Cost: some thousand small collective calls at most.
[[nodiscard]] std::vector<timed_choice> tune(team& team, std::span<const gather_choice> candidates, const tuning_make& make,
                                             const tuning_limits& limits);

}  // namespace longshore::gathering

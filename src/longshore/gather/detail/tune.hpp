// How strategy auto measures: all candidates by turns at three sizes, the slow ones given up early,
// the whole within a budget of time.
#pragma once

#include <longshore/gather/detail/choice.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace longshore::detail {

/// One candidate, made ready: does the first `requests` of the tuning's own requests. Collective.
using tuning_run = std::function<void(std::size_t requests)>;
/// Collective. Makes a candidate ready. Throws, on all ranks, errc::out_of_memory, unsupported or
/// usage where it cannot be had: it is then left out.
using tuning_make = std::function<tuning_run(const gather_choice&)>;

struct tuning_limits {
  double seconds = 0.6;                   ///< for the turns
  std::size_t most_requests = 1'000'000;  ///< that the candidates have indices for
};

/// Collective; the same arguments and the same result on all ranks. Each candidate is called in
/// each class of requests in turns with the others, at most 10 times, and timed on the slowest
/// rank; its time is the lower quartile, because what disturbs a call makes it longer. Given up are
/// those whose best time is 20 times the best of all after the first call, then 3 times, twice, and
/// 1.25 times; and in a class of more requests those that are far behind there by what smaller
/// classes predict. Smaller classes leave time to the larger ones. Past the budget, up to twice,
/// only what is needed for three turns is done. Cost: some thousand small collective calls at most.
[[nodiscard]] std::vector<timed_choice> tune(team& team, std::span<const gather_choice> candidates,
                                             const tuning_make& make, const tuning_limits& limits);

}  // namespace longshore::detail

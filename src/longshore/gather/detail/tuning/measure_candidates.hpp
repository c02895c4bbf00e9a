// Measures candidates for strategy auto: all of them in turn, with several numbers of requests.
// Slow candidates are dropped early, and the whole stays within a time budget.
#pragma once

#include <longshore/gather/detail/tuning/choice.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace longshore::detail {

/// Collective. Runs a prepared candidate with the first `requests` requests of the measurement.
using run_candidate = std::function<void(std::size_t requests)>;
/// Collective. Prepares a candidate. If that is impossible, it throws errc::out_of_memory,
/// unsupported or usage on all ranks, and the candidate is left out.
using make_candidate = std::function<run_candidate(const gather_choice&)>;

struct tuning_limits {
  double seconds = 0.6;                  ///< time budget for measuring
  std::size_t max_requests = 1'000'000;  ///< number of indices that candidates have
};

/// Collective; the same arguments and the same result on all ranks. In each class of requests the
/// candidates are called in turn, at most 10 times each, and timed on the slowest rank. The time of
/// a candidate is the lower quartile, because disturbances only make calls longer.
///
/// A candidate is dropped from a class if its best time is more than 20 times the best of all after
/// the first call; later more than 3 times, 2 times and 1.25 times. It does not enter a larger
/// class if the smaller classes predict that it would be far behind. Smaller classes use only a
/// part of the time budget. Beyond the budget, and up to twice its time, a class only completes
/// three turns. Cost: some thousand small collective calls at most.
[[nodiscard]] std::vector<timed_choice> measure_candidates(
    team& team, std::span<const gather_choice> candidates, const make_candidate& make,
    const tuning_limits& limits);

}  // namespace longshore::detail

// Measures the candidates of strategy auto with several numbers of requests, within a time budget.
// Candidates are called in turn, and slow candidates are dropped early.
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
/// Collective. Prepares a candidate. A candidate is left out if its preparation throws
/// errc::out_of_memory, unsupported or usage on all ranks.
using make_candidate = std::function<run_candidate(const gather_choice&)>;

struct tuning_limits {
  double seconds = 0.6;                  ///< time budget for measuring
  std::size_t max_requests = 1'000'000;  ///< number of prepared requests
};

/// Collective; all ranks pass the same arguments and get the same result. In each class of requests
/// every candidate gets at most 10 turns, which are timed on the slowest rank. The time of a
/// candidate is the lower quartile, because disturbances only make calls longer.
///
/// After every turn, candidates that are much slower than the best are dropped from the class. A
/// candidate does not enter a larger class if the smaller classes predict that the candidate would
/// be far behind. Smaller classes use only a part of the time budget. The whole takes at most about
/// twice the budget. Cost: some thousand small collective calls at most.
[[nodiscard]] std::vector<timed_choice> measure_candidates(
    team& team, std::span<const gather_choice> candidates, const make_candidate& make,
    const tuning_limits& limits);

}  // namespace longshore::detail

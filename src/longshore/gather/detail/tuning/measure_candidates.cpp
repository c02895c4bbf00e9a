// Calls the candidates with more and more requests.
#include <longshore/gather/detail/tuning/decide_strategy.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/fastest_by_turns.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace longshore::detail {
namespace {

constexpr double turn_seconds = 0.001;  // short calls are repeated within a turn
constexpr std::size_t growth = 10;      // from one number of requests to the next

struct candidate {
  gather_choice choice;
  run_candidate run;
  // The last two numbers of requests with which the candidate was called, and the times of a call.
  double requests = 0, seconds = 0, requests_before = 0, seconds_before = 0;

  // A call takes a constant time and a time per request.
  [[nodiscard]] double predicted(double more_requests) const {
    if (requests == 0) return 0;
    const double seconds_per_request =
        std::max(0.0, (seconds - seconds_before) / (requests - requests_before));
    return seconds + seconds_per_request * (more_requests - requests);
  }
  void add(double called_requests, double called_seconds) {
    requests_before = std::exchange(requests, called_requests);
    seconds_before = std::exchange(seconds, called_seconds);
  }
};

std::vector<candidate> prepare(std::span<const gather_choice> choices, const make_candidate& make) {
  std::vector<candidate> prepared;
  for (const auto& choice : choices) {
    try {
      prepared.push_back({choice, make(choice)});
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory && e.code() != errc::unsupported &&
          e.code() != errc::usage)
        throw;
    }
  }
  return prepared;
}

// The candidates to call, of which the first is expected to be the fastest. `best`: the shortest
// time of a call with a tenth of the requests. `seconds`: the time for three calls of each of them.
std::vector<candidate*> those_that_may_win(std::vector<candidate>& all, std::size_t requests,
                                           double best, double seconds) {
  constexpr double least_calls = 3;
  const auto predicted = [=](const candidate* one) {
    return one->predicted(static_cast<double>(requests));
  };
  std::vector<candidate*> chosen;
  for (auto& one : all)
    if (one.seconds <= growth * best) chosen.push_back(&one);
  std::stable_sort(chosen.begin(), chosen.end(), [&](const candidate* a, const candidate* b) {
    return predicted(a) < predicted(b);
  });
  std::size_t affordable = 0;
  while (affordable < chosen.size() &&
         (seconds -= least_calls * predicted(chosen[affordable])) >= 0)
    ++affordable;
  chosen.resize(affordable);
  return chosen;
}

}  // namespace

std::vector<timed_choice> measure_candidates(team& team, std::span<const gather_choice> candidates,
                                             const make_candidate& make,
                                             const tuning_limits& limits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool is_computed = team.costs() != nullptr;
  auto all = prepare(candidates, make);
  std::vector<timed_choice> results;
  double best = infinity;
  const double began = team.now();
  for (std::size_t step = 0; step <= request_classes; ++step) {
    const std::size_t requests = step == 0
                                     ? measured_requests[0] / growth
                                     : std::min(measured_requests[step - 1], limits.max_requests);
    if (step > 0 && request_class_of(requests) != step - 1) break;
    if (is_computed && step == request_classes) break;  // simulating so many events takes long
    const double left = limits.seconds - team.allreduce_value(team.now() - began, reduction::max);
    const double share = std::max(left / static_cast<double>(request_classes + 1 - step),
                                  limits.seconds / static_cast<double>(request_classes + 1));
    const auto chosen = those_that_may_win(all, requests, best, step > 1 ? share : infinity);
    if (chosen.empty()) break;

    const auto run = [&](std::size_t i) { chosen[i]->run(requests); };
    // The first calls find out how long a call takes. Computed times are the same in each call, so
    // no further calls are needed.
    const std::size_t first_turns = step == 0 ? 2 : 1;
    auto times =
        time_by_turns(team, chosen.size(), run, {.first_turns = first_turns, .turns = first_turns});
    if (step > 0 && !is_computed) {
      turn_limits turns{.turns = 9, .more_seconds = share};
      for (const auto& first : times)
        turns.calls.push_back(static_cast<int>(
            std::clamp(turn_seconds / std::max(first.seconds[0], 1e-9), 1.0, 1000.0)));
      times = time_by_turns(team, chosen.size(), run, turns);
    }
    best = infinity;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const double seconds = std::max(times[i].lower_quartile(), 1e-9);
      best = std::min(best, seconds);
      chosen[i]->add(static_cast<double>(requests), seconds);
      if (step > 0)
        results.push_back({.choice = chosen[i]->choice,
                           .requests = requests,
                           .seconds = seconds,
                           .turns = static_cast<int>(times[i].seconds.size())});
    }
  }
  return results;
}

}  // namespace longshore::detail

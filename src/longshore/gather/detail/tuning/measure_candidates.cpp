// Measures candidates within a budget of time. Classes of requests are measured from small to
// large, in turns of all candidates, and slow candidates are dropped early.
#include <longshore/gather/detail/tuning/measure_candidates.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace longshore::detail {
namespace {

// Turns of a candidate in a class. The first min_turns may take a larger part of the time.
constexpr std::size_t min_turns = 3, max_turns = 9;
constexpr double turn_seconds = 0.001;  // Short calls are repeated within a turn.
// The largest class is measured with so many requests that the best call takes this long, but with
// at least min_large_requests.
constexpr double large_call_seconds = 0.008;
constexpr double min_large_requests = 350'000;
// A class is not measured if its best call takes longer. Candidates compare as in the class before.
constexpr double max_call_seconds = 0.1;
// Long calls vary little, and each one costs much of the budget. So fewer candidates enter a class
// of long calls, and slow ones are dropped after one call.
constexpr double long_call_seconds = 0.01;
constexpr double long_entry_ratio = 1.5, long_drop_ratio = 2;
// No class begins after this multiple of the budget.
constexpr double budget_overrun = 2;
// After the first call, a candidate is dropped above this ratio to the best time.
constexpr double first_drop_ratio = 20;
// The first test has few requests, so that strategies that wait for each request are found cheaply.
// A candidate is dropped if its call takes longer than max_few_seconds and than first_drop_ratio
// times the best call.
constexpr std::size_t few_requests = 50;
constexpr double max_few_seconds = 0.01;
// Indexed by turn: a candidate is dropped after the turn above this ratio to the best time. Later
// turns use the last ratio.
constexpr std::array<double, 3> drop_ratio = {3, 2, 1.25};
// Indexed by class: the part of the budget that may be used up to the end of the class, by the
// first min_turns and by further turns.
constexpr std::array<double, request_classes> first_share_of_time = {0.5, 0.8, 1.2, 2.0},
                                              share_of_time = {0.15, 0.3, 0.55, 1.0};
// Indexed by class: a candidate does not enter above this ratio to the best predicted time. All
// enter the first class. For the second one, short calls with few turns predict badly.
constexpr std::array<double, request_classes> entry_ratio = {10, 20, 10, 3};
constexpr double infinity = std::numeric_limits<double>::infinity();

struct candidate {
  gather_choice choice;
  run_candidate run;
  int iterations = 1;
  std::vector<double> seconds = {};                 // per call in the current class, ascending
  double requests = 0;                              // of a call in the current class
  double previous_requests = 0, previous_best = 0;  // in the class before

  [[nodiscard]] double best() const { return seconds.front(); }
  // Disturbances only make calls longer, so the lower quartile converges faster than the median.
  [[nodiscard]] double lower_quartile() const { return seconds[(seconds.size() - 1) / 4]; }
  // The predicted time of a call: a constant and a time per request, which follow from the last two
  // classes. So a strategy with a large constant is not dropped too early.
  [[nodiscard]] double predicted(double more_requests) const {
    const double seconds_per_request =
        std::max(0.0, (best() - previous_best) / (requests - previous_requests));
    return best() + seconds_per_request * (more_requests - requests);
  }
  void begin_class(std::size_t class_requests) {
    if (!seconds.empty()) {
      previous_best = best();
      previous_requests = requests;
    }
    requests = static_cast<double>(class_requests);
    seconds.clear();
    iterations = 1;
  }
};

class candidate_timer {
 public:
  candidate_timer(team& team, const tuning_limits& limits) : team_(team), limits_(limits) {}

  void add(const gather_choice& choice, run_candidate run) {
    candidates_.push_back({choice, std::move(run)});
  }

  std::vector<timed_choice> run() {
    start_ = team_.now();
    try_few_requests();
    std::vector<timed_choice> results;
    for (std::size_t c = 0; c < request_classes && !candidates_.empty(); ++c) {
      const std::size_t requests = requests_of(c);
      if (request_class_of(requests) != c) break;
      if (team_.costs() != nullptr && c + 1 == request_classes && c > 0) break;
      const double best = best_predicted(requests);
      if (c > 0 && (elapsed_ >= budget_overrun * limits_.seconds || best > max_call_seconds)) break;
      const double max_ratio = best > long_call_seconds ? long_entry_ratio : entry_ratio[c];
      std::vector<candidate*> entered;
      for (auto& candidate : candidates_)
        if (c == 0 || candidate.predicted(static_cast<double>(requests)) <= max_ratio * best)
          entered.push_back(&candidate);
      measure_class(entered, requests, c);
      for (const candidate* measured : entered)
        results.push_back({.choice = measured->choice,
                           .requests = requests,
                           .seconds = measured->lower_quartile(),
                           .turns = static_cast<int>(measured->seconds.size())});
    }
    return results;
  }

 private:
  void try_few_requests() {
    const std::size_t requests = std::min(few_requests, limits_.max_requests);
    double best = infinity;
    for (auto& candidate : candidates_) {
      candidate.begin_class(requests);
      for (int i = 0; i < 2; ++i) time_turn(candidate, requests);
      best = std::min(best, candidate.best());
    }
    std::erase_if(candidates_, [&](const candidate& tried) {
      return tried.best() > std::max(max_few_seconds, first_drop_ratio * best);
    });
  }

  static double best_of(const std::vector<candidate*>& measured) {
    double best = infinity;
    for (const candidate* one : measured) best = std::min(best, one->best());
    return best;
  }

  static void drop_slow(std::vector<candidate*>& remaining, double max_ratio) {
    const double best = best_of(remaining);
    std::erase_if(remaining,
                  [=](const candidate* measured) { return measured->best() > max_ratio * best; });
  }

  [[nodiscard]] double best_predicted(std::size_t requests) const {
    double best = infinity;
    for (const auto& candidate : candidates_)
      best = std::min(best, candidate.predicted(static_cast<double>(requests)));
    return best;
  }

  // The largest class has as many requests as the time allows. Candidates would compare alike with
  // more requests.
  [[nodiscard]] std::size_t requests_of(std::size_t c) const {
    std::size_t wanted = measured_requests[c];
    if (c + 1 == request_classes) {
      const double affordable =
          large_call_seconds / best_predicted(wanted) * static_cast<double>(wanted);
      wanted = static_cast<std::size_t>(
          std::clamp(affordable, min_large_requests, static_cast<double>(wanted)));
    }
    return std::min(wanted, limits_.max_requests);
  }

  // `remaining` is a copy, since a candidate that is dropped in this class may be the best in the
  // next class.
  void measure_class(std::vector<candidate*> remaining, std::size_t requests, std::size_t c) {
    for (candidate* entered : remaining) {
      entered->begin_class(requests);
      time_turn(*entered, requests);
      if (team_.costs() == nullptr)
        entered->iterations =
            static_cast<int>(std::clamp(turn_seconds / entered->best(), 1.0, 1000.0));
    }
    drop_slow(remaining,
              best_of(remaining) > long_call_seconds ? long_drop_ratio : first_drop_ratio);
    if (team_.costs() != nullptr) return;  // without noise, one call tells all
    for (std::size_t turn = 0; turn < max_turns; ++turn) {
      const double limit =
          (turn < min_turns ? first_share_of_time : share_of_time)[c] * limits_.seconds;
      if (turn > 0 && (remaining.size() == 1 || elapsed_ >= limit)) break;
      for (std::size_t k = 0; k < remaining.size(); ++k)
        time_turn(*remaining[(k + turn) % remaining.size()], requests);
      drop_slow(remaining, drop_ratio[std::min(turn, drop_ratio.size() - 1)]);
    }
  }

  void time_turn(candidate& timed, std::size_t requests) {
    const double seconds = time(timed, requests);
    timed.seconds.insert(std::upper_bound(timed.seconds.begin(), timed.seconds.end(), seconds),
                         seconds);
  }

  // Collective. The seconds per call on the slowest rank. Also updates elapsed_.
  double time(const candidate& timed, std::size_t requests) {
    team_.barrier();
    const double begin = team_.now();
    for (int i = 0; i < timed.iterations; ++i) timed.run(requests);
    const double end = team_.now();
    std::array<double, 2> slowest = {end - begin, end - start_};
    team_.allreduce(slowest, reduction::max);
    elapsed_ = slowest[1];
    return std::max(slowest[0] / timed.iterations, 1e-9);
  }

  team& team_;
  tuning_limits limits_;
  std::vector<candidate> candidates_;
  double start_ = 0, elapsed_ = 0;  // in seconds; elapsed_ since start_
};

}  // namespace

std::vector<timed_choice> measure_candidates(team& team, std::span<const gather_choice> candidates,
                                             const make_candidate& make,
                                             const tuning_limits& limits) {
  candidate_timer timer(team, limits);
  for (const auto& choice : candidates) {
    try {
      timer.add(choice, make(choice));
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory && e.code() != errc::unsupported &&
          e.code() != errc::usage)
        throw;
    }
  }
  return timer.run();
}

}  // namespace longshore::detail

#include <longshore/gather/detail/tuning/measure_candidates.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace longshore::detail {
namespace {

// Turns of a candidate in a class; the minimum also if time is short.
constexpr int min_turns = 3, max_turns = 9;
constexpr double turn_seconds = 0.001;        // short calls are repeated within a turn
constexpr double large_call_seconds = 0.008;  // of the best candidate in the largest class
// A class in which the best call takes longer is not measured; it compares as the class before.
constexpr double max_call_seconds = 0.05;
constexpr double min_large_requests = 350'000;  // in the largest class
constexpr double budget_overrun = 2;            // times the budget, after which no class begins
constexpr double first_drop_ratio = 20;         // to the best time, after the first call
// The first test has so few requests that a strategy that waits for each of them is found cheaply.
// A call that takes longer than this is dropped.
constexpr std::size_t few_requests = 50;
constexpr double max_few_seconds = 0.01;
// The ratio to the best time above which a candidate is dropped after each turn; the last also
// holds after later turns.
constexpr std::array<double, 3> drop_ratio = {3, 2, 1.25};
// The part of the budget that may be used up to the end of each class.
constexpr std::array<double, request_classes> share_of_time = {0.15, 0.3, 0.55, 1.0};
// The ratio to the best predicted time above which a candidate does not enter a class.
constexpr std::array<double, request_classes> entry_ratio = {10, 10, 10, 3};
constexpr double infinity = std::numeric_limits<double>::infinity();

struct candidate {
  gather_choice choice;
  run_candidate run;
  int iterations = 1;
  std::vector<double> seconds = {};  // per call in the class measured last, ascending
  // The numbers of requests in that class and in the one before, and the best time in the latter.
  double requests = 0, requests_before = 0, best_before = 0;

  [[nodiscard]] double best() const { return seconds.front(); }
  // Disturbances only make calls longer, so the lower quartile converges faster than the median.
  [[nodiscard]] double typical() const { return seconds[(seconds.size() - 1) / 4]; }
  // Predicts the time of a call from the last two classes: a constant and a time per request. So a
  // strategy with a large constant is not dropped too early.
  [[nodiscard]] double predicted(double more_requests) const {
    const double each = std::max(0.0, (best() - best_before) / (requests - requests_before));
    return best() + each * (more_requests - requests);
  }
  void begin(std::size_t of_requests) {
    if (!seconds.empty()) best_before = best(), requests_before = requests;
    requests = static_cast<double>(of_requests);
    seconds.clear();
    iterations = 1;
  }
};

class measurement {
 public:
  measurement(team& team, const tuning_limits& limits) : team_(team), limits_(limits) {}

  void add(const gather_choice& choice, run_candidate run) {
    candidates_.push_back({choice, std::move(run)});
  }

  std::vector<timed_choice> run() {
    start_ = team_.now();
    try_few();
    std::vector<timed_choice> all;
    for (std::size_t c = 0; c < request_classes && !candidates_.empty(); ++c) {
      const std::size_t requests = requests_of(c);
      if (request_class_of(requests) != c) break;
      const double expected = best_predicted(requests);
      if (c > 0 && (elapsed_ >= budget_overrun * limits_.seconds || expected > max_call_seconds))
        break;
      std::vector<candidate*> measured;
      for (auto& one : candidates_)
        if (c == 0 || one.predicted(static_cast<double>(requests)) <= entry_ratio[c] * expected)
          measured.push_back(&one);
      measure(measured, requests, share_of_time[c] * limits_.seconds);
      for (const candidate* one : measured)
        all.push_back(
            {one->choice, requests, one->typical(), static_cast<int>(one->seconds.size())});
    }
    return all;
  }

 private:
  void try_few() {
    const std::size_t few = std::min(few_requests, limits_.max_requests);
    double least = infinity;
    for (auto& one : candidates_) {
      one.begin(few);
      for (int i = 0; i < 2; ++i) time_turn(one, few);
      least = std::min(least, one.best());
    }
    std::erase_if(candidates_, [&](const candidate& one) {
      return one.best() > std::max(max_few_seconds, first_drop_ratio * least);
    });
  }

  static void drop_slow(std::vector<candidate*>& remaining, double factor) {
    double least = infinity;
    for (const candidate* one : remaining) least = std::min(least, one->best());
    std::erase_if(remaining, [=](const candidate* one) { return one->best() > factor * least; });
  }

  [[nodiscard]] double best_predicted(std::size_t requests) const {
    double least = infinity;
    for (const auto& one : candidates_)
      least = std::min(least, one.predicted(static_cast<double>(requests)));
    return least;
  }

  // The largest class is measured with as many requests as the time allows. With more requests the
  // strategies compare alike.
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

  // `remaining` is a copy: a candidate that is dropped in this class may be the best in the next.
  void measure(std::vector<candidate*> remaining, std::size_t requests, double until) {
    for (candidate* one : remaining) {
      one->begin(requests);
      time_turn(*one, requests);
      one->iterations = static_cast<int>(std::clamp(turn_seconds / one->best(), 1.0, 1000.0));
    }
    drop_slow(remaining, first_drop_ratio);
    for (int turn = 0; turn < max_turns; ++turn) {
      if (turn > 0 && (remaining.size() == 1 ||
                       elapsed_ >= (turn < min_turns ? budget_overrun * limits_.seconds : until)))
        break;
      for (std::size_t k = 0; k < remaining.size(); ++k)
        time_turn(*remaining[(k + static_cast<std::size_t>(turn)) % remaining.size()], requests);
      drop_slow(
          remaining,
          drop_ratio[std::min<std::size_t>(static_cast<std::size_t>(turn), drop_ratio.size() - 1)]);
    }
  }

  void time_turn(candidate& one, std::size_t requests) {
    const double seconds = time(one, requests, one.iterations);
    one.seconds.insert(std::upper_bound(one.seconds.begin(), one.seconds.end(), seconds), seconds);
  }

  // Seconds per call on the slowest rank, from `iterations` calls; the same on all ranks. Also
  // updates elapsed_.
  double time(const candidate& one, std::size_t requests, int iterations) {
    team_.barrier();
    const double begin = team_.now();
    for (int i = 0; i < iterations; ++i) one.run(requests);
    const double end = team_.now();
    std::array<double, 2> agreed = {end - begin, end - start_};
    team_.allreduce(agreed, reduction::max);
    elapsed_ = agreed[1];
    return std::max(agreed[0] / iterations, 1e-9);
  }

  team& team_;
  tuning_limits limits_;
  std::vector<candidate> candidates_;
  double start_ = 0, elapsed_ = 0;
};

}  // namespace

std::vector<timed_choice> measure_candidates(team& team, std::span<const gather_choice> candidates,
                                             const make_candidate& make,
                                             const tuning_limits& limits) {
  measurement all(team, limits);
  for (const auto& choice : candidates) {
    try {
      all.add(choice, make(choice));
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory && e.code() != errc::unsupported &&
          e.code() != errc::usage)
        throw;
    }
  }
  return all.run();
}

}  // namespace longshore::detail

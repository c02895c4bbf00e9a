#include <longshore/gather/detail/tune.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace longshore::detail {
namespace {

constexpr int least_turns = 3, most_turns = 9;  // the least also where time is short
constexpr double turn_seconds = 0.001;          // short calls are repeated within a turn
constexpr double large_call_seconds = 0.008;    // of the best at the largest size
// sizes of longer calls are not measured: they compare as the size before
constexpr double most_call_seconds = 0.05;
constexpr double least_large = 350'000;      // requests
constexpr double patience = 2;               // times the budget, after which nothing is begun
constexpr double hopeless = 20;              // times the best
constexpr double unbearable_seconds = 0.01;  // of a call of few requests
// so that what waits for each request is found out cheaply
constexpr std::size_t few_requests = 50;
// times the best; the last also after later turns
constexpr std::array<double, 3> given_up_after_turn = {3, 2, 1.25};
// of the budget, up to this class
constexpr std::array<double, request_classes> share_of_time = {0.15, 0.3, 0.55, 1.0};
constexpr std::array<double, request_classes> still_worth_it = {10, 10, 10,
                                                                // times the best, as predicted from
                                                                // smaller sizes
                                                                3};
constexpr double infinity = std::numeric_limits<double>::infinity();

struct contender {
  gather_choice choice;
  tuning_run run;
  int iterations = 1;
  std::vector<double> seconds = {};  // of one call at the size last measured, ascending
  double requests = 0, requests_before = 0,
         best_before = 0;  // that size, and the one before with its best time

  [[nodiscard]] double best() const { return seconds.front(); }
  // What disturbs a call makes it longer, never shorter: the lower quartile is there sooner than
  // the median.
  [[nodiscard]] double typical() const { return seconds[(seconds.size() - 1) / 4]; }
  // Of a call of so many requests: what a call costs, and what each request adds, by the last two
  // sizes. A strategy that is slow to begin is not given up for that.
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

class tuner {
 public:
  tuner(team& team, const tuning_limits& limits) : team_(team), limits_(limits) {}

  void add(const gather_choice& choice, tuning_run run) {
    everybody_.push_back({choice, std::move(run)});
  }

  std::vector<timed_choice> run() {
    start_ = team_.now();
    try_few();
    std::vector<timed_choice> all;
    for (std::size_t c = 0; c < request_classes && !everybody_.empty(); ++c) {
      const std::size_t requests = requests_of(c);
      if (request_class_of(requests) != c) break;
      const double expected = best_predicted(requests);
      if (c > 0 && (elapsed_ >= patience * limits_.seconds || expected > most_call_seconds)) break;
      std::vector<contender*> measured;
      for (auto& one : everybody_)
        if (c == 0 || one.predicted(static_cast<double>(requests)) <= still_worth_it[c] * expected)
          measured.push_back(&one);
      measure(measured, requests, share_of_time[c] * limits_.seconds);
      for (const contender* one : measured)
        all.push_back(
            {one->choice, requests, one->typical(), static_cast<int>(one->seconds.size())});
    }
    return all;
  }

 private:
  void try_few() {
    const std::size_t few = std::min(few_requests, limits_.most_requests);
    double least = infinity;
    for (auto& one : everybody_) {
      one.begin(few);
      for (int i = 0; i < 2; ++i) take_turn(one, few);
      least = std::min(least, one.best());
    }
    std::erase_if(everybody_, [&](const contender& one) {
      return one.best() > std::max(unbearable_seconds, hopeless * least);
    });
  }

  static void give_up(std::vector<contender*>& in_play, double factor) {
    double least = infinity;
    for (const contender* one : in_play) least = std::min(least, one->best());
    std::erase_if(in_play, [=](const contender* one) { return one->best() > factor * least; });
  }

  [[nodiscard]] double best_predicted(std::size_t requests) const {
    double least = infinity;
    for (const auto& one : everybody_)
      least = std::min(least, one.predicted(static_cast<double>(requests)));
    return least;
  }

  // The largest class is measured with as many requests as the time allows: the strategies compare
  // alike from there on.
  [[nodiscard]] std::size_t requests_of(std::size_t c) const {
    std::size_t wanted = measured_requests[c];
    if (c + 1 == request_classes) {
      const double affordable =
          large_call_seconds / best_predicted(wanted) * static_cast<double>(wanted);
      wanted = static_cast<std::size_t>(
          std::clamp(affordable, least_large, static_cast<double>(wanted)));
    }
    return std::min(wanted, limits_.most_requests);
  }

  // Who was given up at this size may be the best at the next: `in_play` is a copy.
  void measure(std::vector<contender*> in_play, std::size_t requests, double until) {
    for (contender* one : in_play) {
      one->begin(requests);
      take_turn(*one, requests);
      one->iterations = static_cast<int>(std::clamp(turn_seconds / one->best(), 1.0, 1000.0));
    }
    give_up(in_play, hopeless);
    for (int turn = 0; turn < most_turns; ++turn) {
      if (turn > 0 && (in_play.size() == 1 ||
                       elapsed_ >= (turn < least_turns ? patience * limits_.seconds : until)))
        break;
      for (std::size_t k = 0; k < in_play.size(); ++k)
        take_turn(*in_play[(k + static_cast<std::size_t>(turn)) % in_play.size()], requests);
      give_up(in_play, given_up_after_turn[std::min<std::size_t>(static_cast<std::size_t>(turn),
                                                                 given_up_after_turn.size() - 1)]);
    }
  }

  void take_turn(contender& one, std::size_t requests) {
    const double seconds = time(one, requests, one.iterations);
    one.seconds.insert(std::upper_bound(one.seconds.begin(), one.seconds.end(), seconds), seconds);
  }

  // Seconds of one of `iterations` calls, on the slowest rank: the same on all ranks. Brings
  // elapsed_ up to date.
  double time(const contender& one, std::size_t requests, int iterations) {
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
  std::vector<contender> everybody_;
  double start_ = 0, elapsed_ = 0;
};

}  // namespace

std::vector<timed_choice> tune(team& team, std::span<const gather_choice> candidates,
                               const tuning_make& make, const tuning_limits& limits) {
  tuner all(team, limits);
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

#include <longshore/core/error.hpp>
#include <longshore/gather/tune.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace longshore::gathering {
namespace {

constexpr int most_turns = 9;
constexpr double turn_seconds = 0.001;        // short calls are repeated within a turn
constexpr double large_call_seconds = 0.006;  // of the best at the largest size, as far as its indices go
constexpr double hopeless = 20;               // times the best; a first call also touches buffers for the first time
constexpr std::array<double, request_classes> share_of_time = {0.2, 0.5, 1.0};           // of the budget, up to this class
constexpr std::array<double, request_classes> still_worth_it = {hopeless, hopeless, 3};  // of the best of the class before

constexpr double infinity = std::numeric_limits<double>::infinity();

struct contender {
  gather_choice choice;
  tuning_run run;
  double seconds_per_call = infinity;  // at the size last measured: the median of the turns, or one call
  int iterations = 1;
  std::vector<double> turns = {};
};

class tuner {
 public:
  tuner(team& team, const tuning_limits& limits) : team_(team), limits_(limits) {}

  void add(const gather_choice& choice, tuning_run run) { everybody_.push_back({choice, std::move(run)}); }

  std::vector<timed_choice> run() {
    start_ = team_.now();
    std::vector<timed_choice> all;
    std::vector<contender*> in_play;
    for (auto& one : everybody_) in_play.push_back(&one);
    for (std::size_t c = 0; c < request_classes && !in_play.empty(); ++c) {
      const std::size_t requests = requests_of(c, in_play);
      if (request_class_of(requests) != c || (c > 0 && elapsed_ >= limits_.seconds)) break;
      give_up(in_play, still_worth_it[c]);
      auto measured = in_play;
      measure(in_play, requests, share_of_time[c] * limits_.seconds);
      for (const contender* one : measured)
        all.push_back({one->choice, requests, one->seconds_per_call, std::max(1, static_cast<int>(one->turns.size()))});
      in_play = std::move(measured);  // who was given up at this size may be the best at the next
      before_ = requests;
    }
    return all;
  }

 private:
  static double best(const std::vector<contender*>& in_play) {
    double least = infinity;
    for (const contender* one : in_play) least = std::min(least, one->seconds_per_call);
    return least;
  }
  static void give_up(std::vector<contender*>& in_play, double factor) {
    const double most = factor * best(in_play);
    std::erase_if(in_play, [most](const contender* one) { return one->seconds_per_call > most; });
  }

  // The largest class is measured with as many requests as the time allows: the strategies compare alike from there on.
  [[nodiscard]] std::size_t requests_of(std::size_t c, const std::vector<contender*>& in_play) const {
    std::size_t wanted = measured_requests[c];
    if (c + 1 == request_classes) {
      const double per_request = best(in_play) / static_cast<double>(before_);
      const double affordable = large_call_seconds / per_request;
      wanted = static_cast<std::size_t>(std::clamp(affordable, 200'000.0, static_cast<double>(wanted)));
    }
    return std::min(wanted, limits_.most_requests);
  }

  void measure(std::vector<contender*>& in_play, std::size_t requests, double until) {
    for (contender* one : in_play) {
      one->turns.clear();
      one->seconds_per_call = time(*one, requests, 1);
      one->iterations = static_cast<int>(std::clamp(turn_seconds / one->seconds_per_call, 1.0, 1000.0));
    }
    give_up(in_play, hopeless);
    for (int turn = 0; turn < most_turns && (turn == 0 || (elapsed_ < until && in_play.size() > 1)); ++turn) {
      for (std::size_t k = 0; k < in_play.size(); ++k)
        take_turn(*in_play[(k + static_cast<std::size_t>(turn)) % in_play.size()], requests);
      if (turn == 0) give_up(in_play, 2);
      if (turn >= 2) give_up(in_play, 1.25);
    }
  }

  void take_turn(contender& one, std::size_t requests) {
    one.turns.push_back(time(one, requests, one.iterations));
    auto sorted = one.turns;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    one.seconds_per_call = *middle;
  }

  // Seconds of one of `iterations` calls, on the slowest rank: the same on all ranks. Brings elapsed_ up to date.
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
  std::size_t before_ = 1;  // requests of the class before
  double start_ = 0, elapsed_ = 0;
};

}  // namespace

std::vector<timed_choice> tune(team& team, std::span<const gather_choice> candidates, const tuning_make& make,
                               const tuning_limits& limits) {
  tuner all(team, limits);
  for (const auto& choice : candidates) {
    try {
      all.add(choice, make(choice));
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory && e.code() != errc::unsupported && e.code() != errc::usage) throw;
    }
  }
  return all.run();
}

}  // namespace longshore::gathering

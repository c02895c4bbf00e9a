#include <longshore/core/error.hpp>
#include <longshore/gather/tune.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace longshore::gathering {
namespace {

constexpr int least_turns = 3, most_turns = 9;  // the least also where time is short
constexpr double turn_seconds = 0.001;          // short calls are repeated within a turn
constexpr double large_call_seconds = 0.008;    // of the best at the largest size
constexpr double most_call_seconds = 0.05;      // sizes of longer calls are not measured: they compare as the size before
constexpr double least_large = 350'000;         // requests
constexpr double patience = 2;                  // times the budget, after which nothing is begun
constexpr double hopeless = 20;                 // times the best
constexpr std::size_t few_requests = 50;        // so that what waits for each request is found out cheaply
constexpr std::array<double, 3> given_up_after_turn = {3, 2, 1.25};  // times the best; the last also after later turns
constexpr std::array<double, request_classes> share_of_time = {0.15, 0.3, 0.55, 1.0};         // of the budget, up to this class
constexpr std::array<double, request_classes> still_worth_it = {hopeless, hopeless, 6, 2.5};  // of the best of the class before
constexpr double infinity = std::numeric_limits<double>::infinity();

struct contender {
  gather_choice choice;
  tuning_run run;
  int iterations = 1;
  std::vector<double> seconds = {};  // of one call at the size last measured, ascending

  [[nodiscard]] double best() const { return seconds.empty() ? infinity : seconds.front(); }
  // What disturbs a call makes it longer, never shorter: the lower quartile is there sooner than the median.
  [[nodiscard]] double typical() const { return seconds[(seconds.size() - 1) / 4]; }
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
    for (int i = 0; i < 2; ++i)
      for (contender* one : in_play) take_turn(*one, std::min(few_requests, limits_.most_requests));
    for (std::size_t c = 0; c < request_classes && !in_play.empty(); ++c) {
      const std::size_t requests = requests_of(c, in_play);
      if (request_class_of(requests) != c) break;
      if (c > 0 && (elapsed_ >= patience * limits_.seconds || seconds_for(requests, in_play) > most_call_seconds)) break;
      give_up(in_play, still_worth_it[c]);
      auto measured = in_play;
      measure(in_play, requests, share_of_time[c] * limits_.seconds);
      for (const contender* one : measured)
        all.push_back({one->choice, requests, one->typical(), static_cast<int>(one->seconds.size())});
      in_play = std::move(measured);  // who was given up at this size may be the best at the next
      before_ = requests;
    }
    return all;
  }

 private:
  static double best(const std::vector<contender*>& in_play) {
    double least = infinity;
    for (const contender* one : in_play) least = std::min(least, one->best());
    return least;
  }
  static void give_up(std::vector<contender*>& in_play, double factor) {
    const double most = factor * best(in_play);
    std::erase_if(in_play, [most](const contender* one) { return one->best() > most; });
  }

  // Of the best, if it went on as in the class before.
  [[nodiscard]] double seconds_for(std::size_t requests, const std::vector<contender*>& in_play) const {
    return best(in_play) * static_cast<double>(requests) / static_cast<double>(before_);
  }

  // The largest class is measured with as many requests as the time allows: the strategies compare alike from there on.
  [[nodiscard]] std::size_t requests_of(std::size_t c, const std::vector<contender*>& in_play) const {
    std::size_t wanted = measured_requests[c];
    if (c + 1 == request_classes) {
      const double affordable = large_call_seconds / seconds_for(1, in_play);
      wanted = static_cast<std::size_t>(std::clamp(affordable, least_large, static_cast<double>(wanted)));
    }
    return std::min(wanted, limits_.most_requests);
  }

  void measure(std::vector<contender*>& in_play, std::size_t requests, double until) {
    for (contender* one : in_play) {
      one->seconds.clear();
      one->iterations = 1;
      take_turn(*one, requests);
      one->iterations = static_cast<int>(std::clamp(turn_seconds / one->best(), 1.0, 1000.0));
    }
    give_up(in_play, hopeless);
    for (int turn = 0; turn < most_turns; ++turn) {
      if (turn > 0 && (in_play.size() == 1 || elapsed_ >= (turn < least_turns ? patience * limits_.seconds : until))) break;
      for (std::size_t k = 0; k < in_play.size(); ++k)
        take_turn(*in_play[(k + static_cast<std::size_t>(turn)) % in_play.size()], requests);
      give_up(in_play,
              given_up_after_turn[std::min<std::size_t>(static_cast<std::size_t>(turn), given_up_after_turn.size() - 1)]);
    }
  }

  void take_turn(contender& one, std::size_t requests) {
    const double seconds = time(one, requests, one.iterations);
    one.seconds.insert(std::upper_bound(one.seconds.begin(), one.seconds.end(), seconds), seconds);
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

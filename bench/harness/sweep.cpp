// The loop over rounds and variants. It makes, verifies and times measurements, keeps them between
// rounds while memory suffices, and reports to the observer on rank 0.
#include "harness/sweep.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include "harness/noise_probe.hpp"
#include "harness/run_counters.hpp"
#include "harness/statistics.hpp"
#include "harness/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace longshore::bench {
namespace {

constexpr double repetition_seconds = 0.005;  // short operations are repeated for this long
constexpr double min_clock_steps = 100;       // a shorter repetition gets a warning
// The limit of measurements alive at the same time. Not only memory is limited, but also channels
// and MPI windows.
constexpr std::size_t max_kept = 64;
// Kept measurements hold at most 1/8 of the available memory.
constexpr std::size_t kept_memory_divisor = 8;
// The first of the streams of random numbers for orders; each round has the next stream. Data of
// the same seed use streams numbered by rank, from 0.
constexpr std::uint64_t order_stream = 0x0'0de4;

// Bytes of private and shared memory that this process has touched, without mapped files. 0 if
// unknown.
std::size_t process_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::size_t total = 0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:") || line.starts_with("RssShmem:"))
      total += std::stoul(line.substr(line.find(':') + 1)) * 1024;
  return total;
}

class sweeper {
 public:
  sweeper(team& team, const sweep_setting& setting, const variants& chosen, observer* listener)
      : team_(team),
        setting_(setting),
        listener_(listener),
        memory_before_(process_memory_bytes()),
        shared_before_(available_shared_memory_bytes()) {
    for (const auto& levels : chosen.to_run) states_.emplace_back(levels);
    // Computed times have no noise, and there are no counters.
    if (team.costs() == nullptr) {
      counters_.emplace(team);
      if (setting.options.noise_probe && team.size() > 1) {
        probe_.emplace(team);
        if (line_probe::is_useful(team)) line_probe_.emplace(team);
      }
    }
    // Computed times must not depend on the memory that happens to be free on this host.
    keep_ = team.costs() == nullptr || states_.size() == 1;
    // The limit of 2^60 keeps the conversion to a signed number safe.
    budget_bytes_ = team_.allreduce_value(
        static_cast<std::int64_t>(
            std::min(available_memory_bytes() / kept_memory_divisor, std::size_t{1} << 60)),
        reduction::min);
  }

  sweep_outcome sweep() {
    // The preparation runs every variant once, and is the first round of the warmup.
    const int untimed = std::max(setting_.options.warmup - 1, 0),
              timed = setting_.options.repetitions;
    const int rounds = untimed + timed;
    visit_all(-1, rounds, [&](variant_state& state, std::size_t) { prepare(state); });
    for (int round = 0; round < untimed; ++round)
      visit_all(round, rounds, [&](variant_state& state, std::size_t) { visit_untimed(state); });
    for (int i = 0; i < timed; ++i)
      visit_all(untimed + i, rounds, [&](variant_state& state, std::size_t position) {
        visit_timed(state);
        state.measured->timed(state.repetitions.back(), state.iterations);
        const bool is_end = i + 1 == timed;
        if (is_end || setting_.options.verify == verification::all) verify(state);
        if (listener_ != nullptr)
          listener_->sample(state.levels, i, position, state.repetitions.back());
        if (is_end) conclude(state);
        if (!keep_) state.measured.reset();
      });
    return outcome_;
  }

 private:
  struct variant_state {
    explicit variant_state(const variant& chosen) : levels(chosen) {}
    const variant& levels;
    std::unique_ptr<measurement> measured;  // null until made
    long iterations = 1;
    bool skipped = false, correct = true;
    std::vector<repetition> repetitions;
    std::vector<double> probe_seconds, cache_line_seconds;  // on this rank, one per repetition
    run_counts counts;
  };

  // Calls `act` for every variant that is not skipped, in the order of the round, which is the same
  // on all ranks. Round -1 is the preparation.
  template <class Act>
  void visit_all(int round, int rounds, const Act& act) {
    std::vector<std::size_t> order(states_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (setting_.options.shuffle) {
      random_stream random(setting_.options.seed,
                           order_stream + static_cast<std::uint64_t>(round + 1));
      shuffle(std::span(order), random);
    }
    for (std::size_t position = 0; position < order.size(); ++position) {
      variant_state& state = states_[order[position]];
      if (state.skipped) continue;
      if (listener_ != nullptr)
        listener_->visit(round, rounds, position, order.size(), state.levels);
      with_variant_in_errors(state, [&] { act(state, position); });
    }
  }

  // Adds the variant to the message of an error. Reports exceptions of the standard library about
  // memory as errc::out_of_memory.
  template <class Act>
  void with_variant_in_errors(const variant_state& state, const Act& act) {
    const auto with_variant = [&](const char* message) {
      return fmt::format("{} {}: {}", setting_.measured.name, label(state.levels), message);
    };
    constexpr const char* no_memory = "memory ran out: use smaller sizes or fewer ranks per node";
    try {
      act();
    } catch (const error& e) {
      if (e.code() == errc::peer_failed) throw;
      throw error(e.code(), with_variant(e.what()));
    } catch (const std::bad_alloc&) {
      throw error(errc::out_of_memory, with_variant(no_memory));
    } catch (const std::length_error&) {  // more elements than a vector can hold
      throw error(errc::out_of_memory, with_variant(no_memory));
    }
  }

  // Makes the measurement. If the variant makes no sense here, returns false on all ranks and sets
  // `reason`.
  bool make(variant_state& state, std::string& reason) {
    try {
      state.measured = setting_.measured.make(team_, state.levels, setting_.launch);
    } catch (const error& e) {
      if (e.code() != errc::usage && e.code() != errc::unsupported) throw;
      reason = e.what();
    }
    const bool made = state.measured != nullptr;
    if (team_.allreduce_value(made ? 1 : 0, reduction::min) == 1) return true;
    if (team_.allreduce_value(made ? 1 : 0, reduction::max) == 1)
      fail(errc::transport, "only some of the ranks could prepare it{}{}", made ? "" : ": ",
           reason);
    return false;
  }

  void prepare(variant_state& state) {
    std::string reason;
    if (!make(state, reason)) {
      state.skipped = true;
      ++outcome_.skipped;
      if (listener_ != nullptr) listener_->skipped({state.levels, reason});
      return;
    }
    state.measured->reset();
    team_.barrier();  // so that no rank writes into memory while its owner resets it
    state.measured->run();
    verify(state);
    state.iterations = iterations_of(*state.measured);
    decide_what_to_keep();
    if (!keep_) state.measured.reset();
  }

  // How many operations a repetition has.
  long iterations_of(measurement& measured) {
    const long requested = setting_.options.iterations;
    if (requested > 0) return measured.repeatable() ? requested : 1;
    // Without noise, one operation tells as much as many.
    return team_.costs() != nullptr ? 1 : calibrate(team_, measured, repetition_seconds);
  }

  // Measurements stay alive between visits while all together hold a small part of the memory.
  // Otherwise no measurement stays, so that all variants are treated alike.
  void decide_what_to_keep() {
    if (!keep_) return;
    const std::size_t now = process_memory_bytes();
    // All ranks decide alike, because reductions give all of them the same numbers.
    const auto held = static_cast<std::int64_t>(now - std::min(now, memory_before_));
    const std::int64_t held_on_host =
        team_.allreduce_value(held, reduction::max) * setting_.max_processes_per_host;
    const bool fits = held_on_host <= budget_bytes_ && has_shared_memory_left();
    if (fits && ++kept_ <= max_kept) return;
    if (states_.size() == 1) return;
    keep_ = false;
    for (auto& other : states_) other.measured.reset();
  }

  // Collective. Whether the shared memory that the measurements of all ranks of a host hold is a
  // small part, too. Containers have little of it.
  bool has_shared_memory_left() {
    const std::size_t now = available_shared_memory_bytes();
    const bool is_left =
        shared_before_ - std::min(now, shared_before_) <= shared_before_ / kept_memory_divisor;
    return team_.allreduce_value(is_left ? 1 : 0, reduction::min) == 1;
  }

  void visit_timed(variant_state& state) {
    make_again(state);
    if (probe_) state.probe_seconds.push_back(probe_->measure());
    if (line_probe_) state.cache_line_seconds.push_back(line_probe_->measure());
    state.repetitions.push_back(time_repetition(team_, *state.measured, state.iterations,
                                                counters_ ? &*counters_ : nullptr, &state.counts));
    if (setting_.options.phases) time_phases(state);
  }

  // Phases have a repetition of their own, because reading the clock for each message takes time,
  // which must not be in the other figures.
  void time_phases(variant_state& state) {
    state.measured->time_phases(true);
    repetition timed = time_repetition(team_, *state.measured, state.iterations);
    state.measured->time_phases(false);
    auto& latest = state.repetitions.back();
    latest.phases = std::move(timed.phases);
    latest.phase_minima = std::move(timed.phase_minima);
    latest.phase_means = std::move(timed.phase_means);
  }

  void visit_untimed(variant_state& state) {
    make_again(state);
    static_cast<void>(time_repetition(team_, *state.measured, state.iterations));
  }

  void make_again(variant_state& state) {
    if (state.measured) return;
    std::string reason;
    if (!make(state, reason))
      fail(errc::transport, "it could be prepared before, and now cannot: {}", reason);
    state.measured->reset();
    team_.barrier();
    state.measured->run();  // touches the memory of the timed operations
  }

  void verify(variant_state& state) {
    if (setting_.options.verify != verification::no &&
        team_.allreduce_value(state.measured->verify() ? 1 : 0, reduction::min) == 0)
      state.correct = false;
  }

  void conclude(variant_state& state) {
    variant_result result{.levels = state.levels,
                          .index = static_cast<std::size_t>(&state - states_.data()),
                          .repetitions = static_cast<int>(state.repetitions.size()),
                          .iterations = state.iterations,
                          .made_once = keep_,
                          .seconds = summary_of(state.repetitions)};
    result.median_phase_minima = median_phases(state.repetitions, &repetition::phase_minima);
    if (setting_.options.phases)
      result.median_phase_means = median_phases(state.repetitions, &repetition::phase_means);
    if (probe_)
      result.probe_seconds =
          team_.allreduce_value(quantile(state.probe_seconds, 0.5), reduction::max);
    if (line_probe_) result.cache_line = line_probe_->over_pairs(state.cache_line_seconds);
    if (setting_.options.verify != verification::no) result.verified = state.correct;
    result.moved = traffic_of_all_ranks(team_, state.measured->moved());
    result.metrics = state.measured->metrics(result.seconds);
    result.facts = state.measured->collect_facts();
    if (counters_) result.facts["counters"] = counters_->per_operation(state.counts);
    warn(result);
    ++outcome_.ran;
    if (!state.correct) ++outcome_.wrong;
    if (listener_ != nullptr) listener_->result(result);
  }

  void warn(variant_result& result) const {
    const double shortest = result.seconds.best * static_cast<double>(result.iterations),
                 step = setting_.clock.resolution_seconds;
    if (shortest < min_clock_steps * step || shortest <= 0)
      result.warning =
          fmt::format("a repetition lasted less than {:.0f} steps of the clock ({:.2g} s each)",
                      min_clock_steps, step);
    const auto not_finite = [](const metric& m) { return !std::isfinite(m.value); };
    if (std::erase_if(result.metrics, not_finite) > 0)
      result.warning +=
          result.warning.empty() ? "a figure is not finite" : "; a figure is not finite";
  }

  team& team_;
  const sweep_setting& setting_;
  observer* listener_;
  std::optional<noise_probe> probe_;  // nothing if not requested, or with one rank
  std::optional<line_probe> line_probe_;
  // Constructed before all measurements, so that it counts their tasks, too.
  std::optional<run_counters> counters_;
  std::size_t memory_before_, shared_before_;  // used, and available
  std::int64_t budget_bytes_ = 0;
  bool keep_ = true;
  std::size_t kept_ = 0;
  std::vector<variant_state> states_;
  sweep_outcome outcome_;
};

}  // namespace

sweep_outcome sweep(team& team, const sweep_setting& setting, const variants& chosen,
                    observer* listener) {
  return sweeper(team, setting, chosen, listener).sweep();
}

}  // namespace longshore::bench

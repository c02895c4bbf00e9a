#include "harness/sweep.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory.hpp>

#include "facts/process_memory.hpp"
#include "harness/noise_probe.hpp"
#include "harness/run_counters.hpp"
#include "harness/statistics.hpp"
#include "harness/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

namespace longshore::bench {
namespace {

constexpr double repetition_seconds = 0.005;  // short operations are repeated for this long
constexpr double least_resolutions = 100;     // steps of the clock that a repetition should last
// Measurements alive at once: channels and windows are limited too
constexpr std::size_t most_kept = 64;
// Kept measurements may hold one part in so many of the available memory
constexpr std::size_t kept_share = 8;
// Separates the order from the data of the same seed
constexpr std::uint64_t order_stream = 0x0'0de4;

class sweeper {
 public:
  sweeper(team& team, const sweep_setting& setting, const variants& chosen, observer* listener)
      : team_(team),
        setting_(setting),
        listener_(listener),
        counters_(team),
        memory_before_(process_memory_bytes()) {
    for (const auto& what : chosen.to_run) states_.emplace_back(what);
    if (setting.how.noise_probe && team.size() > 1) probe_.emplace(team);
    budget_bytes_ =
        team_.allreduce_value(static_cast<std::int64_t>(std::min(
                                  available_memory_bytes() / kept_share, std::size_t{1} << 60)),
                              reduction::min);
  }

  sweep_outcome sweep() {
    const int untimed = std::max(setting_.how.warmup - 1, 0), timed = setting_.how.repetitions;
    int round = 0;
    each(-1, untimed + timed, round, [&](state& at, std::size_t) { prepare(at); });
    for (int i = 0; i < untimed; ++i)
      each(i, untimed + timed, ++round, [&](state& at, std::size_t) { visit(at); });
    for (int i = 0; i < timed; ++i)
      each(untimed + i, untimed + timed, ++round, [&](state& at, std::size_t position) {
        visit_timed(at);
        at.ready->timed(at.repetitions.back(), at.iterations);
        if (listener_ != nullptr) listener_->sample(*at.what, i, position, at.repetitions.back());
        if (i + 1 == timed) conclude(at);
        if (!keep_) at.ready.reset();
      });
    return outcome_;
  }

 private:
  struct state {
    explicit state(const variant& v) : what(&v) {}
    const variant* what;
    std::unique_ptr<measurement> ready;
    long iterations = 1;
    bool skipped = false, right = true;
    std::vector<repetition> repetitions;
    std::vector<double> probes;  // of this rank, one before each repetition
    run_counts counted;
  };

  // Calls `act` for every variant that is not skipped, in the order of the round. All ranks have
  // the same order.
  template <class Act>
  void each(int round, int rounds, int sweeps_before, const Act& act) {
    std::vector<std::size_t> order(states_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (setting_.how.shuffle) {
      random_stream random(setting_.how.seed,
                           order_stream + static_cast<std::uint64_t>(sweeps_before));
      shuffle(std::span(order), random);
    }
    for (std::size_t position = 0; position < order.size(); ++position) {
      state& at = states_[order[position]];
      if (at.skipped) continue;
      if (listener_ != nullptr) listener_->visit(round, rounds, position, order.size(), *at.what);
      with_variant_in_errors(at, [&] { act(at, position); });
    }
  }

  // Adds the variant to the message of an error, and turns exceptions of the standard library about
  // memory into errors.
  template <class Act>
  void with_variant_in_errors(const state& at, const Act& act) {
    const auto named = [&](const char* message) {
      return fmt::format("{} {}: {}", setting_.program.name, label(*at.what), message);
    };
    constexpr const char* no_memory = "memory ran out: use smaller sizes or fewer ranks per node";
    try {
      act();
    } catch (const error& e) {
      if (e.code() == errc::peer_failed) throw;
      throw error(e.code(), named(e.what()));
    } catch (const std::bad_alloc&) {
      throw error(errc::out_of_memory, named(no_memory));
    } catch (const std::length_error&) {  // more elements than a vector can hold
      throw error(errc::out_of_memory, named(no_memory));
    }
  }

  // Makes the measurement. Returns false, on all ranks, when the variant makes no sense here.
  bool make(state& at, std::string& why) {
    try {
      at.ready = setting_.program.make(team_, *at.what, setting_.launch);
    } catch (const error& e) {
      if (e.code() != errc::usage && e.code() != errc::unsupported) throw;
      why = e.what();
    }
    const bool made = at.ready != nullptr;
    if (team_.allreduce_value(made ? 1 : 0, reduction::min) == 1) return true;
    if (team_.allreduce_value(made ? 1 : 0, reduction::max) == 1)
      fail(errc::transport, "only some of the ranks could prepare it{}{}", made ? "" : ": ", why);
    return false;
  }

  void prepare(state& at) {
    std::string why;
    if (!make(at, why)) {
      at.skipped = true;
      ++outcome_.skipped;
      if (listener_ != nullptr) listener_->skipped({*at.what, why});
      return;
    }
    at.ready->reset();
    team_.barrier();  // no rank writes into memory that its owner still resets
    at.ready->run();
    verify(at);
    const long asked = setting_.how.iterations;
    at.iterations = asked == 0               ? calibrate(team_, *at.ready, repetition_seconds)
                    : at.ready->repeatable() ? asked
                                             : 1;
    decide_what_to_keep();
    if (!keep_) at.ready.reset();
  }

  // All measurements stay alive between their visits as long as they hold a small part of the
  // memory. Otherwise none stays, so that all variants are treated alike.
  void decide_what_to_keep() {
    if (!keep_) return;
    const std::size_t now = process_memory_bytes();
    const auto held = static_cast<std::int64_t>(now - std::min(now, memory_before_));
    const std::int64_t together =
        team_.allreduce_value(held, reduction::max) * setting_.ranks_sharing_memory;
    if (together <= budget_bytes_ && ++kept_ <= most_kept) return;
    if (states_.size() == 1) return;
    keep_ = false;
    for (auto& other : states_) other.ready.reset();
  }

  void visit_timed(state& at) {
    make_again(at);
    if (probe_) at.probes.push_back(probe_->measure());
    at.repetitions.push_back(
        time_repetition(team_, *at.ready, at.iterations, &counters_, &at.counted));
  }

  void visit(state& at) {
    make_again(at);
    static_cast<void>(time_repetition(team_, *at.ready, at.iterations));
  }

  void make_again(state& at) {
    if (at.ready) return;
    std::string why;
    if (!make(at, why))
      fail(errc::transport, "it could be prepared before, and now cannot: {}", why);
    at.ready->reset();
    team_.barrier();
    at.ready->run();  // touches the memory of the timed operations
  }

  void verify(state& at) {
    if (setting_.how.verify &&
        team_.allreduce_value(at.ready->verify() ? 1 : 0, reduction::min) == 0)
      at.right = false;
  }

  void conclude(state& at) {
    verify(at);
    variant_result all{.what = *at.what,
                       .index = static_cast<std::size_t>(&at - states_.data()),
                       .repetitions = static_cast<int>(at.repetitions.size()),
                       .iterations = at.iterations,
                       .made_once = keep_,
                       .seconds = over_repetitions(at.repetitions),
                       .least_of_phases = least_of_phases(at.repetitions)};
    if (probe_) all.probe_seconds = team_.allreduce_value(quantile(at.probes, 0.5), reduction::max);
    if (setting_.how.verify) all.verified = at.right;
    all.moved = over_all_ranks(team_, at.ready->moved());
    all.metrics = at.ready->metrics(all.seconds);
    all.facts = at.ready->facts();
    all.facts["counters"] = counters_.per_operation(at.counted);
    warn(all);
    ++outcome_.ran;
    if (!at.right) ++outcome_.wrong;
    if (listener_ != nullptr) listener_->result(all);
  }

  void warn(variant_result& all) const {
    const double shortest = all.seconds.best * static_cast<double>(all.iterations),
                 step = setting_.clock.resolution_seconds;
    if (shortest < least_resolutions * step || shortest <= 0)
      all.warning =
          fmt::format("a repetition lasted less than {:.0f} steps of the clock ({:.2g} s each)",
                      least_resolutions, step);
    const auto useless = [](const metric& one) { return !std::isfinite(one.value); };
    if (std::erase_if(all.metrics, useless) > 0)
      all.warning += all.warning.empty() ? "a figure is not finite" : "; a figure is not finite";
  }

  team& team_;
  const sweep_setting& setting_;
  observer* listener_;
  std::optional<noise_probe> probe_;  // nothing: not requested, or only one rank
  run_counters counters_;  // constructed before all measurements, so that their tasks count
  std::size_t memory_before_;
  std::int64_t budget_bytes_ = 0;
  bool keep_ = true;
  std::size_t kept_ = 0;
  std::vector<state> states_;
  sweep_outcome outcome_;
};

}  // namespace

sweep_outcome sweep(team& team, const sweep_setting& setting, const variants& chosen,
                    observer* listener) {
  return sweeper(team, setting, chosen, listener).sweep();
}

}  // namespace longshore::bench

// The parts that plans for gather, scatter and updates share. A user's plan is a thin handle to an
// object that was made for its strategy, with one virtual call per use. So users' code stays small,
// whether the loops behind a plan are compiled in the library or with the user's code.
#pragma once

#include <longshore/gather/detail/tuning/plans_by_size.hpp>
#include <longshore/gather/exchange_stats.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace longshore {
class team;
}

namespace longshore::detail {

/// The base of the implementations of plans. It has the decision for a strategy and, if that
/// depends on the number of requests, a plan for each size.
class plan_base {
 public:
  plan_base(const plan_base&) = delete;
  plan_base& operator=(const plan_base&) = delete;
  virtual ~plan_base();

  // plan_handle describes these.
  [[nodiscard]] const gather_choice& choice() const noexcept;
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  [[nodiscard]] exchange_stats stats() const;

 protected:
  explicit plan_base(const gather_decision& decision);

  [[nodiscard]] gather_strategy strategy() const noexcept {
    return decision_.by_size.front().strategy;
  }
  /// Whether plans for each size do the work.
  [[nodiscard]] bool is_by_size() const noexcept { return sized_ != nullptr; }
  /// `make` makes the plan for one choice.
  void plan_by_size(team& team, plans_by_size::make_plan make);
  /// Collective. Calls use(plan) with the plan for so many requests, which is a Plan. REQUIRES:
  /// is_by_size().
  template <class Plan, class Use>
  void run_by_size(std::size_t requests, Use&& use) {
    auto& plan = static_cast<Plan&>(of_size(requests));
    use(plan);
    moved_ = plan.moved();
  }
  /// The statistics of this plan's own strategy.
  [[nodiscard]] virtual exchange_stats strategy_stats() const = 0;

  traffic moved_;

 private:
  [[nodiscard]] plan_base& of_size(std::size_t requests);

  gather_decision decision_;
  std::unique_ptr<plans_by_size> sized_;
};

/// The calls that gather_plan, scatter_plan and update_plan have in common.
template <class Plan>
class plan_handle {
 public:
  /// The strategy in use; with auto, the one that was chosen for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The strategy in use with the size of its buffers and its hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return plan_->choice(); }
  /// The choices for all numbers of requests, and their origin.
  [[nodiscard]] const gather_decision& decision() const noexcept { return plan_->decision(); }
  /// What this rank moved in the last call. The payload is the values; in updates by one constant
  /// it is the indices. Requests and offsets count as wire bytes only.
  [[nodiscard]] const traffic& moved() const noexcept { return plan_->moved(); }
  /// What this rank did since the plan was made: by hop, messages and how full they were; latencies
  /// and waits.
  [[nodiscard]] exchange_stats stats() const { return plan_->stats(); }
  [[deprecated("use stats()")]] [[nodiscard]] exchange_stats what_happened() const {
    return stats();
  }

 protected:
  explicit plan_handle(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}

  std::unique_ptr<Plan> plan_;
};

/// Calls use(engine) and returns what the engine sent meanwhile.
template <class Engine, class Use>
[[nodiscard]] traffic traffic_of(Engine& engine, Use&& use) {
  const traffic before = engine.sent();
  use(engine);
  return engine.sent() - before;
}

/// The statistics of the one that a plan has: exstack or an engine.
template <class Exstack, class Engine>
[[nodiscard]] exchange_stats stats_of(const std::optional<Exstack>& exstack,
                                      const std::optional<Engine>& engine) {
  if (exstack) return exstack->stats();
  return engine ? engine->stats() : exchange_stats{};
}

/// Throws errc::usage, because the numbers of indices and values differ. `output`: the values are
/// an output.
[[noreturn]] void throw_size_error(const char* operation, int rank, std::size_t indices,
                                   std::size_t values, bool output = false);

}  // namespace longshore::detail

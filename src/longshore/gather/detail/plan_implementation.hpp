// The common parts of gather_plan, scatter_plan and update_plan: plan_handle is the base of these
// classes, and plan_implementation is the base of the objects to which they forward calls. A call
// of a plan is one virtual call, so users' code stays small wherever the loops are compiled.
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

/// Holds the decision for a strategy. If the decision depends on the number of requests, holds also
/// a plan for each size, which does the work.
class plan_implementation {
 public:
  plan_implementation(const plan_implementation&) = delete;
  plan_implementation& operator=(const plan_implementation&) = delete;
  virtual ~plan_implementation();

  // plan_handle documents these calls.
  [[nodiscard]] const gather_choice& choice() const noexcept;
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  [[nodiscard]] exchange_stats stats() const;

 protected:
  explicit plan_implementation(const gather_decision& decision);

  /// The strategy of all calls, unless the decision depends on the number of requests.
  [[nodiscard]] gather_strategy strategy() const noexcept {
    return decision_.by_size.front().strategy;
  }
  [[nodiscard]] bool has_plans_by_size() const noexcept { return plans_by_size_ != nullptr; }
  void make_plans_by_size(team& team, plans_by_size::make_plan make);
  /// Collective. Calls use(plan) with the plan for this number of requests, which has type Plan.
  /// REQUIRES: has_plans_by_size().
  template <class Plan, class Use>
  void with_plan_for(std::size_t requests, Use&& use) {
    auto& plan = static_cast<Plan&>(plan_for(requests));
    use(plan);
    moved_ = plan.moved();
  }
  /// The statistics of the strategy of this object, without those of plans for sizes.
  [[nodiscard]] virtual exchange_stats strategy_stats() const = 0;

  traffic moved_;

 private:
  [[nodiscard]] plan_implementation& plan_for(std::size_t requests);

  gather_decision decision_;
  std::unique_ptr<plans_by_size> plans_by_size_;
};

template <class Implementation>
class plan_handle {
 public:
  /// The strategy in use. With auto, the strategy that was chosen for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The strategy in use with the size of its buffers and its hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return plan_->choice(); }
  /// The choices for all numbers of requests, and the origin of these choices.
  [[nodiscard]] const gather_decision& decision() const noexcept { return plan_->decision(); }
  /// The traffic of this rank in the last call. The payload is the values, and in updates by one
  /// constant the indices. Requests and offsets count as wire bytes only.
  [[nodiscard]] const traffic& moved() const noexcept { return plan_->moved(); }
  /// Statistics of this rank since the plan was made: for each hop, messages and how full they
  /// were, latencies and waits.
  [[nodiscard]] exchange_stats stats() const { return plan_->stats(); }

 protected:
  explicit plan_handle(std::unique_ptr<Implementation> plan) : plan_(std::move(plan)) {}

  std::unique_ptr<Implementation> plan_;
};

/// Calls use(engine) and returns the traffic that the engine sent meanwhile.
template <class Engine, class Use>
[[nodiscard]] traffic traffic_of(Engine& engine, Use&& use) {
  const traffic before = engine.sent();
  use(engine);
  return engine.sent() - before;
}

/// The statistics of a plan that has an exstack, an engine, or neither.
template <class Exstack, class Engine>
[[nodiscard]] exchange_stats stats_of(const Exstack& exstack, const Engine& engine) {
  return exstack ? exstack.stats() : engine.stats();
}

enum class values_role { input, output };
/// Throws errc::usage, because the numbers of indices and values differ.
[[noreturn]] void throw_size_error(const char* operation, int rank, std::size_t indices,
                                   std::size_t values, values_role role = values_role::input);

}  // namespace longshore::detail

// What plans for gather, scatter and updates are inside: made once by strategy, called through one
// virtual function per call. So the types that users write are thin, whoever compiled the loops
// behind them.
#pragma once

#include <longshore/gather/detail/plans_by_size.hpp>
#include <longshore/gather/exchange_report.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace longshore {
class team;
}

namespace longshore::detail {}

namespace longshore::detail {

/// What all of them have alike: the decision and, where it depends on the number of requests, a
/// plan for each size.
class planned {
 public:
  planned(const planned&) = delete;
  planned& operator=(const planned&) = delete;
  virtual ~planned();

  /// What automatic has become, for the last call.
  [[nodiscard]] const gather_choice& choice() const noexcept;
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  /// What this rank moved in the last call.
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  [[nodiscard]] exchange_report what_happened() const;

 protected:
  explicit planned(const gather_decision& decision);

  [[nodiscard]] gather_strategy strategy() const noexcept {
    return decision_.by_size.front().strategy;
  }
  /// Whether plans for each size do the work; `make` gives one of them.
  [[nodiscard]] bool is_by_size() const noexcept { return sized_ != nullptr; }
  void plan_by_size(team& team, plans_by_size::make_plan make);
  /// Collective. Calls use(plan) with the plan for so many requests, which is a Plan. REQUIRES:
  /// is_by_size().
  template <class Plan, class Use>
  void run_by_size(std::size_t requests, Use&& use) {
    auto& plan = static_cast<Plan&>(of_size(requests));
    use(plan);
    moved_ = plan.moved();
  }
  /// Of the engine of this plan itself.
  [[nodiscard]] virtual exchange_report report() const = 0;

  traffic moved_;

 private:
  [[nodiscard]] planned& of_size(std::size_t requests);

  gather_decision decision_;
  std::unique_ptr<plans_by_size> sized_;
};

/// Calls use(engine) and adds up what it sent for that.
template <class Engine, class Use>
[[nodiscard]] traffic traffic_of(Engine& engine, Use&& use) {
  const traffic before = engine.sent();
  use(engine);
  return engine.sent() - before;
}

/// What happened in the rounds of exstack, or in the engine, whichever a plan has.
template <class Exstack, class Engine>
[[nodiscard]] exchange_report report_of(const std::optional<Exstack>& exstack,
                                        const std::optional<Engine>& engine) {
  if (exstack) return exstack->report();
  return engine ? engine->report() : exchange_report{};
}

/// Throws errc::usage: so many indices, and so many values or room for them.
[[noreturn]] void refuse_sizes(const char* operation, int rank, std::size_t indices,
                               std::size_t values, bool room = false);

}  // namespace longshore::detail

// The common parts of gather_plan, scatter_plan and update_plan. plan_handle is the base of these
// classes. They forward each call by one virtual call to an object whose base is
// plan_implementation. So users' code stays small wherever the loops are compiled.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/traffic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace longshore {
class team;
}

namespace longshore::detail {

/// Holds the decision for a strategy. If no choice is good for all numbers of requests, it also
/// holds a plan for each choice. A call then uses the plan for its number of requests.
class plan_implementation {
 public:
  plan_implementation(const plan_implementation&) = delete;
  plan_implementation& operator=(const plan_implementation&) = delete;
  virtual ~plan_implementation();

  // plan_handle documents these calls.
  [[nodiscard]] const gather_choice& choice() const noexcept {
    return decision_.by_size[agreement_ ? agreement_->current() : 0];
  }
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  [[nodiscard]] exchange_stats stats() const;

 protected:
  using make_plan = shared_function<std::unique_ptr<plan_implementation>(const gather_choice&)>;

  explicit plan_implementation(const gather_decision& decision);

  [[nodiscard]] bool has_plans_by_size() const noexcept { return agreement_.has_value(); }
  /// From now on, the first call that uses a choice makes its plan by `make`, which is collective.
  void use_plans_by_size(team& team, make_plan make);
  /// Collective. The plan for a call with this number of requests. REQUIRES: has_plans_by_size().
  [[nodiscard]] plan_implementation& plan_for(std::size_t requests);
  /// The statistics of the strategy of this object, without the statistics of plans by size.
  [[nodiscard]] virtual exchange_stats strategy_stats() const = 0;

  traffic moved_;

 private:
  gather_decision decision_;
  std::optional<size_agreement> agreement_;
  make_plan make_;
  // Indexed by class. Classes with equal choices share the plan of the first of these classes.
  std::array<std::unique_ptr<plan_implementation>, request_classes> plans_;
};

/// A call of a plan. Value: T for a gather, which writes the values, and const T otherwise.
template <class Value>
struct plan_call {
  const char* operation;  ///< for error messages
  std::span<const std::int64_t> indices;
  std::span<Value> values;     ///< one per index, or one for all
  bool has_one_value = false;  ///< of updates: `values` has one value for all indices
};

/// The interface to which plans forward their calls. plan_dispatch implements it.
template <class Value>
class table_plan : public plan_implementation {
 public:
  virtual void run(const plan_call<Value>& call) = 0;

 protected:
  using plan_implementation::plan_implementation;
};

template <class Value>
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
  explicit plan_handle(std::unique_ptr<table_plan<Value>> plan) : plan_(std::move(plan)) {}

  std::unique_ptr<table_plan<Value>> plan_;
};

enum class values_role { input, output };
/// Throws errc::usage, because the numbers of indices and values differ.
[[noreturn]] void throw_size_error(const char* operation, int rank, std::size_t indices,
                                   std::size_t values, values_role role);

}  // namespace longshore::detail

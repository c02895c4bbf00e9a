// What gather_plan, scatter_plan and update_plan have in common. They forward each call by one
// virtual call to a table_plan. So users' code stays small wherever the loops are compiled.
#pragma once

#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace longshore::detail {

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
class table_plan {
 public:
  table_plan(const table_plan&) = delete;
  table_plan& operator=(const table_plan&) = delete;
  virtual ~table_plan() = default;

  virtual void run(const plan_call<Value>& call) = 0;
  // plan_handle documents these calls.
  [[nodiscard]] virtual exchange_stats stats() const = 0;
  [[nodiscard]] const gather_choice& choice() const noexcept {
    return decision_.by_size[agreement_ ? agreement_->current() : 0];
  }
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }

 protected:
  explicit table_plan(const gather_decision& decision) : decision_(decision) {}

  gather_decision decision_;
  std::optional<size_agreement> agreement_;  // if no choice is good for all numbers of requests
  traffic moved_;
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

}  // namespace longshore::detail

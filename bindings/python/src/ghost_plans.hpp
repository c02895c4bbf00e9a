// The collective parts of a GhostGraph and of a Ghost.
#pragma once

#include "arrays.hpp"
#include "python_reference.hpp"
#include "team_owner.hpp"

#include <longshore/ghost/ghost_exchange.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace longshore::python {

class kept_graph final : public collective_object {
 public:
  explicit kept_graph(ghost_graph graph) : graph_(std::move(graph)) {}
  /// REQUIRES: the team has not ended.
  [[nodiscard]] const ghost_graph& graph() const noexcept { return *graph_; }
  void outlive_team() override { graph_.reset(); }

 private:
  std::optional<ghost_graph> graph_;
};

/// A field of a plan. An element is a row of the array.
struct ghost_rows {
  ghost_memory memory;
  std::optional<element> type;  ///< of the numbers in an element
  std::size_t numbers = 1;      ///< in an element
};

class ghost_plan_of_fields final : public collective_object {
 public:
  /// Collective. `arrays` own the memory of the fields. `elements`: the arrays with the owned
  /// elements of the fields.
  void make(const ghost_graph& graph, const ghost_options& options, std::vector<ghost_rows> fields,
            std::vector<python_reference> arrays, std::vector<python_reference> elements) {
    std::vector<ghost_memory> memory;
    for (const ghost_rows& field : fields) memory.push_back(field.memory);
    if (plan_)
      plan_->remake(graph, memory);
    else
      plan_.emplace(graph, options, memory);
    fields_ = std::move(fields);
    arrays_ = std::move(arrays);
    elements_ = std::move(elements);
  }
  [[nodiscard]] const ghost_exchange& plan() const noexcept { return *plan_; }
  [[nodiscard]] std::span<const ghost_rows> fields() const noexcept { return fields_; }
  [[nodiscard]] nb::handle elements(std::size_t field) const { return elements_[field].object(); }

  void start_update() {
    plan_->start_update();
    in_flight_ = true;
  }
  void start_accumulate(std::span<const combine_op> operations) {
    plan_->start_accumulate(operations);
    in_flight_ = true;
  }
  [[nodiscard]] bool test() {
    const bool complete = plan_->test();
    if (complete) in_flight_ = false;
    return complete;
  }
  void wait() {
    plan_->wait();
    in_flight_ = false;
  }

  /// The first error of a function of the program, which exchanges call. An exchange continues
  /// after the error, because other ranks wait for it.
  void fail(std::exception_ptr error) noexcept {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] bool has_failed() const noexcept { return error_ != nullptr; }
  /// REQUIRES: the thread holds the GIL.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void finish() override {
    if (in_flight_) wait();
  }
  /// Fields of an operation in flight are never freed, because other ranks may still access them.
  void abandon() override {
    if (in_flight_) {
      new std::optional<ghost_exchange>(std::move(plan_));
      for (python_reference& array : arrays_) array.leak();
      in_flight_ = false;
    }
    outlive_team();
  }
  void outlive_team() override { plan_.reset(); }

 private:
  // Members are destroyed in reverse order: first the plan, then the arrays.
  std::vector<python_reference> arrays_, elements_;
  std::vector<ghost_rows> fields_;
  std::optional<ghost_exchange> plan_;
  std::exception_ptr error_;
  bool in_flight_ = false;
};

}  // namespace longshore::python

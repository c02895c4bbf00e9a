// The collective parts of a GhostGraph and of a Ghost.
#pragma once

#include "operations.hpp"
#include "python_reference.hpp"
#include "team_owner.hpp"

#include <longshore/ghost/ghost_exchange.hpp>

#include <cstdint>
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
  element_content content;
};

class ghost_plan_of_fields final : public collective_object {
 public:
  /// Collective. `arrays` own the memory of the fields.
  void make(const ghost_graph& graph, const ghost_options& options, std::vector<ghost_rows> fields,
            std::vector<python_reference> arrays) {
    std::vector<ghost_memory> memory;
    for (const ghost_rows& field : fields) memory.push_back(field.memory);
    if (plan_)
      plan_->remake(graph, memory);
    else
      plan_.emplace(graph, options, memory);
    fields_ = std::move(fields);
    arrays_ = std::move(arrays);
  }
  [[nodiscard]] const ghost_exchange& plan() const noexcept { return *plan_; }
  [[nodiscard]] std::span<const ghost_rows> fields() const noexcept { return fields_; }
  /// The errors of functions of the program.
  [[nodiscard]] first_error& errors() noexcept { return errors_; }

  void start_update() {
    plan_->start_update();
    in_flight_ = true;
  }
  void start_accumulate(std::span<const combine_op> operations) {
    plan_->start_accumulate(operations);
    in_flight_ = true;
  }
  void start_assemble(std::span<const combine_op> operations) {
    plan_->start_assemble(operations);
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
  std::vector<python_reference> arrays_;
  std::vector<ghost_rows> fields_;
  first_error errors_;
  std::optional<ghost_exchange> plan_;
  bool in_flight_ = false;
};

}  // namespace longshore::python

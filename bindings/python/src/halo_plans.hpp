// The collective part of a Halo: the grid, and the plan of its fields.
#pragma once

#include "operations.hpp"
#include "python_reference.hpp"
#include "team_owner.hpp"

#include <longshore/halo/halo_exchange.hpp>
#include <longshore/machine/tasks.hpp>

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace longshore::python {

class halo_plans final : public collective_object {
 public:
  halo_plans(rank_grid grid, const halo_options& options, const task_options& with)
      : grid_(std::move(grid)), workers_(with), options_(options) {
    options_.workers = &workers_;
  }

  [[nodiscard]] const rank_grid& grid() const { return *grid_; }
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }

  /// The errors of functions of the program.
  [[nodiscard]] first_error& errors() noexcept { return errors_; }

  /// Collective. `keep`: the arrays that own the memory of the fields.
  void make_plan(const std::vector<field_memory>& fields, std::vector<python_reference> keep) {
    kept_arrays_ = std::move(keep);
    plan_ = std::make_unique<halo_exchange>(*grid_, options_, fields);
    algorithm_ = plan_->algorithm();
  }

  /// Collective when a part occurs first. `operations`: one for each field of the part; none for an
  /// exchange.
  void start(halo_operation operation, std::span<const combine_op> operations,
             const halo_part& part) {
    if (in_flight_) fail(errc::usage, "halo: an exchange is in progress; wait() ends it");
    may_be_read_ = true;  // even if start() throws
    switch (operation) {
      case halo_operation::exchange: plan_->start(part); break;
      case halo_operation::accumulate: plan_->start_accumulate(operations, part); break;
      case halo_operation::assemble: plan_->start_assemble(operations, part); break;
    }
    in_flight_ = true;
  }
  [[nodiscard]] bool test() {
    check_in_flight();
    const bool complete = plan_->test();
    if (complete) in_flight_ = may_be_read_ = false;
    return complete;
  }
  void wait() {
    check_in_flight();
    plan_->wait();
    in_flight_ = may_be_read_ = false;
  }

  void finish() override {
    if (in_flight_) wait();
  }
  /// Fields of an exchange in flight are never freed, because other ranks may still access them.
  void abandon() override {
    if (may_be_read_) {
      static_cast<void>(plan_.release());
      for (python_reference& field : kept_arrays_) field.leak();
    }
    outlive_team();
  }
  void outlive_team() override {
    in_flight_ = false;
    plan_.reset();
    grid_.reset();
  }

 private:
  void check_in_flight() const {
    if (!in_flight_) fail(errc::usage, "halo: no exchange is in progress; start() begins one");
  }

  // Members are destroyed in reverse order: first the plan, then the grid, then the arrays.
  std::vector<python_reference> kept_arrays_;
  std::optional<rank_grid> grid_;
  tasks workers_;  // of the plan
  halo_options options_;
  first_error errors_;
  std::unique_ptr<halo_exchange> plan_;
  bool in_flight_ = false;
  bool may_be_read_ = false;  // whether other ranks may read the fields
  halo_algorithm algorithm_ = halo_algorithm::standard;
};

}  // namespace longshore::python

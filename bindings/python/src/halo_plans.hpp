// The collective part of a Halo: the grid, and a plan for each set of fields that are exchanged
// together.
#pragma once

#include "python_reference.hpp"
#include "team_owner.hpp"

#include <longshore/halo/halo_exchange.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::python {

class halo_plans final : public collective_object {
 public:
  static constexpr int max_fields = 64;           ///< a set of fields has a bit for each
  static constexpr std::uint64_t all_fields = 0;  ///< the set for a call that names no fields

  halo_plans(rank_grid grid, const halo_options& options, const task_options& with)
      : grid_(std::move(grid)), workers_(with), options_(options) {
    options_.workers = &workers_;
  }

  [[nodiscard]] const rank_grid& grid() const { return *grid_; }
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }

  /// Collective. Makes the plan for all fields. `keep`: the arrays that own the memory of the
  /// fields.
  void make_plan(std::vector<field_memory> fields, std::vector<python_reference> keep) {
    fields_ = std::move(fields);
    kept_arrays_ = std::move(keep);
    plan_for_all_ = std::make_unique<halo_exchange>(*grid_, options_, fields_);
    algorithm_ = plan_for_all_->algorithm();
  }

  /// Bit i of `set` stands for field i. Collective when a set of fields occurs first.
  void start(std::uint64_t set) {
    if (in_flight_ != nullptr)
      fail(errc::usage, "halo: an exchange is in progress; wait() ends it");
    halo_exchange& plan = set == all_fields ? *plan_for_all_ : plan_of(set);
    in_flight_ = &plan;  // even if start() throws
    plan.start();
  }
  [[nodiscard]] bool test() {
    const bool complete = plan_in_flight().test();
    if (complete) in_flight_ = nullptr;
    return complete;
  }
  void wait() {
    plan_in_flight().wait();
    in_flight_ = nullptr;
  }

  void finish() override {
    if (in_flight_ != nullptr) wait();
  }
  /// Fields of an exchange in flight are never freed, because other ranks may still access them.
  void abandon() override {
    if (in_flight_ != nullptr) {
      static_cast<void>(plan_for_all_.release());
      for (auto& [set, plan] : plans_by_set_) static_cast<void>(plan.release());
      for (python_reference& field : kept_arrays_) field.leak();
    }
    outlive_team();
  }
  void outlive_team() override {
    in_flight_ = nullptr;
    plans_by_set_.clear();
    plan_for_all_.reset();
    grid_.reset();
  }

 private:
  halo_exchange& plan_in_flight() const {
    if (in_flight_ == nullptr)
      fail(errc::usage, "halo: no exchange is in progress; start() begins one");
    return *in_flight_;
  }
  halo_exchange& plan_of(std::uint64_t set) {
    auto& plan = plans_by_set_[set];
    if (!plan) {
      std::vector<field_memory> fields;
      for (std::size_t i = 0; i < fields_.size(); ++i)
        if ((set >> i & 1) != 0) fields.push_back(fields_[i]);
      if (fields.size() == fields_.size()) return *plan_for_all_;  // `plan` stays null
      plan = std::make_unique<halo_exchange>(*grid_, options_, fields);
    }
    return *plan;
  }

  // Members are destroyed in reverse order: first the plans, then the grid, then the arrays.
  std::vector<python_reference> kept_arrays_;
  std::optional<rank_grid> grid_;
  tasks workers_;  // of the plans
  halo_options options_;
  std::vector<field_memory> fields_;
  std::unique_ptr<halo_exchange> plan_for_all_;
  std::map<std::uint64_t, std::unique_ptr<halo_exchange>> plans_by_set_;
  halo_exchange* in_flight_ = nullptr;
  halo_algorithm algorithm_ = halo_algorithm::standard;
};

}  // namespace longshore::python

// The collective part of a Halo: its grid, and a plan for each set of fields that was exchanged
// together.
#pragma once

#include "python_reference.hpp"
#include "team_owner.hpp"

#include <longshore/halo/halo_exchange.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::python {

class halo_plans final : public collective_object {
 public:
  static constexpr int most_fields = 64;
  static constexpr std::uint64_t all = 0;  ///< means all fields

  halo_plans(team& ranks, const grid_options& where, const halo_options& how)
      : grid_(std::in_place, ranks, where), how_(how) {}

  [[nodiscard]] const rank_grid& grid() const { return *grid_; }
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }

  /// Collective. Makes the plan for all fields. `keep`: the arrays that own their memory.
  void use(std::vector<field_memory> fields, std::vector<python_reference> keep) {
    fields_ = std::move(fields);
    keep_ = std::move(keep);
    for_all_ = std::make_unique<halo_exchange>(*grid_, how_, fields_);
    algorithm_ = for_all_->algorithm();
  }

  /// Bit i of `named` stands for field i. Collective when a set of fields occurs first.
  void start(std::uint64_t named) {
    if (in_flight_ != nullptr)
      fail(errc::usage, "halo: an exchange is in progress; wait() ends it");
    halo_exchange& plan = named == all ? *for_all_ : plan_of(named);
    in_flight_ = &plan;  // also when the start fails halfway
    plan.start();
  }
  [[nodiscard]] bool test() {
    const bool complete = flight().test();
    if (complete) in_flight_ = nullptr;
    return complete;
  }
  void wait() {
    flight().wait();
    in_flight_ = nullptr;
  }

  void finish() override {
    if (in_flight_ != nullptr) wait();
  }
  /// After the failure of a rank, an exchange in progress may still access the fields of all ranks.
  void abandon() override {
    if (in_flight_ != nullptr) {
      static_cast<void>(for_all_.release());
      for (auto& [named, plan] : for_some_) static_cast<void>(plan.release());
      for (python_reference& field : keep_) field.leak();
    }
    outlive_team();
  }
  void outlive_team() override {
    in_flight_ = nullptr;
    for_some_.clear();
    for_all_.reset();
    grid_.reset();
  }

 private:
  halo_exchange& flight() const {
    if (in_flight_ == nullptr)
      fail(errc::usage, "halo: no exchange is in progress; start() begins one");
    return *in_flight_;
  }
  halo_exchange& plan_of(std::uint64_t named) {
    auto& plan = for_some_[named];
    if (!plan) {
      std::vector<field_memory> fields;
      for (std::size_t i = 0; i < fields_.size(); ++i)
        if ((named >> i & 1) != 0) fields.push_back(fields_[i]);
      if (fields.size() == fields_.size()) return *for_all_;
      plan = std::make_unique<halo_exchange>(*grid_, how_, fields);
    }
    return *plan;
  }

  std::vector<python_reference> keep_;  // outlives the plans
  std::optional<rank_grid> grid_;
  halo_options how_;
  std::vector<field_memory> fields_;
  std::unique_ptr<halo_exchange> for_all_;
  std::map<std::uint64_t, std::unique_ptr<halo_exchange>> for_some_;
  halo_exchange* in_flight_ = nullptr;
  halo_algorithm algorithm_ = halo_algorithm::standard;
};

}  // namespace longshore::python

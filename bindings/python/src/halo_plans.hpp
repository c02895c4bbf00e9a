// The collective part of a Halo: the grid, and the plan of its fields.
#pragma once

#include "kept_plan.hpp"

#include <longshore/halo/halo_exchange.hpp>
#include <longshore/machine/tasks.hpp>

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace longshore::python {

class halo_plans final : public kept_plan<halo_exchange> {
 public:
  halo_plans(rank_grid grid, const halo_options& options, const task_options& with)
      : grid_(std::move(grid)), workers_(with), options_(options) {
    options_.workers = &workers_;
  }
  ~halo_plans() override { halo_plans::outlive_team(); }  // the plan uses the grid and the workers

  [[nodiscard]] const rank_grid& grid() const { return *grid_; }
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }

  /// Collective. `keep`: the arrays that own the memory of the fields.
  void make_plan(const std::vector<field_memory>& fields, std::vector<python_reference> keep) {
    hold(std::move(keep));
    hold(std::make_unique<halo_exchange>(*grid_, options_, fields));
    algorithm_ = plan().algorithm();
  }

  /// Collective when a part occurs first. `operations`: one for each field of the part; none for an
  /// exchange.
  void start(halo_operation operation, std::span<const combine_op> operations,
             const exchange_part& part, std::optional<device_stream> stream = {}) {
    if (in_flight()) fail(errc::usage, "halo: an exchange is in progress; wait() ends it");
    kept_plan::start([&](halo_exchange& halos) {
      switch (operation) {
        case halo_operation::exchange: halos.start(part, stream); break;
        case halo_operation::accumulate: halos.start_accumulate(operations, part, stream); break;
        case halo_operation::assemble: halos.start_assemble(operations, part, stream); break;
      }
    });
  }
  [[nodiscard]] bool test() {
    check_in_flight();
    return kept_plan::test();
  }
  void wait(std::optional<device_stream> stream = {}) {
    check_in_flight();
    kept_plan::wait(stream);
  }

  void outlive_team() override {
    kept_plan::outlive_team();
    grid_.reset();
  }

 private:
  void check_in_flight() const {
    if (!in_flight()) fail(errc::usage, "halo: no exchange is in progress; start() begins one");
  }

  std::optional<rank_grid> grid_;
  tasks workers_;  // of the plan
  halo_options options_;
  halo_algorithm algorithm_ = halo_algorithm::standard;
};

}  // namespace longshore::python

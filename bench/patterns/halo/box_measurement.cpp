// Measures operations on fields of irregular boxes, several on each rank.
#include "patterns/halo/halo_measurements.hpp"

#include "patterns/halo/block_check.hpp"
#include "patterns/halo/irregular_boxes.hpp"
#include "patterns/memory_check.hpp"

#include <longshore/boxes/box_exchange.hpp>
#include <longshore/core/random.hpp>

#include <fmt/core.h>

#include <array>
#include <span>

namespace longshore::bench {
namespace {

// The boxes of all ranks. Those of rank r are r * boxes_per_rank to (r + 1) * boxes_per_rank - 1.
block_layout boxes_of(const team& ranks, const variant& levels, std::uint64_t seed) {
  block_layout layout;
  const auto options = grid_of(levels);
  const auto shape = balanced_grid(ranks.size(), options.dimensions, options.ranks);
  const auto cells = triple<std::int64_t>(levels.at("domain"));
  for (int d = 0; d < 3; ++d) layout.domain.cells[d] = shape[d] * cells[d];
  layout.periodic = options.periodic;
  layout.blocks = irregular_boxes(
      layout.domain, boxes_per_rank(levels) * static_cast<std::size_t>(ranks.size()), seed);
  layout.shared = shared_layers(levels);
  layout.width = levels.at("halo").get<int>();
  layout.low_side_owns = false;
  return layout;
}

// Before each repetition all cells get new values, so that results of an earlier exchange are wrong.
template <class T>
class box_measurement final : public plan_measurement {
 public:
  box_measurement(team& ranks, const variant& levels, const launch_facts& facts)
      : plan_measurement(ranks),
        team_(ranks),
        operation_(operation_of(levels)),
        tag_(mix_bits(facts.seed)) {
    const auto count = levels.at("fields").get<std::size_t>();
    const double bytes_per_cell = static_cast<double>(count * sizeof(T));
    const auto domain = triple<double>(levels.at("domain"));
    check_memory(ranks, "the fields", bytes_per_cell * domain[0] * domain[1] * domain[2]);
    boxes_ = boxes_of(ranks, levels, facts.seed);
    const std::size_t mine = boxes_per_rank(levels);
    first_box_ = mine * static_cast<std::size_t>(ranks.rank());
    double cells = 0;
    for (std::size_t b = 0; b < mine; ++b)
      cells += static_cast<double>(boxes_.region(first_box_ + b).count());
    check_memory(ranks, "the fields", bytes_per_cell * cells);

    ranks.barrier();
    const double began = ranks.now();
    const box_layout layout(ranks, std::span(boxes_.blocks).subspan(first_box_, mine),
                            {.domain = boxes_.domain, .periodic = boxes_.periodic});
    layout_seconds_ = ranks.allreduce_value(ranks.now() - began, reduction::max);
    std::vector<box_field_memory> memories;
    const bool is_own = levels.value("memory", "shared") == "own";
    const std::array shared{boxes_.shared, boxes_.shared, boxes_.shared};
    for (std::size_t f = 0; f < count; ++f) {
      fields_.push_back(is_own ? in_own_memory(layout, shared)
                               : in_shared_.emplace_back(layout, boxes_.width, shared));
      memories.push_back(fields_.back().memory());
    }
    ranks.barrier();
    const double planned = ranks.now();
    exchange_ = std::make_unique<box_exchange>(
        layout, box_options{level_of<box_mode>(levels, "mode")}, memories);
    if (operation_ != halo_operation::exchange) run();  // the first sum makes a plan
    plan_seconds_ = ranks.allreduce_value(ranks.now() - planned, reduction::max);
  }

  void reset() override {
    tag_ += fields_.size();
    runs_ = 0;
    for (std::size_t b = 0; b < fields_.front().size(); ++b) {
      const block_check<T> check(boxes_, operation_, first_box_ + b);
      for (std::size_t f = 0; f < fields_.size(); ++f) check.fill(fields_[f][b], tag_ + f);
    }
  }
  // Each assemble multiplies the values, which would soon be infinite.
  [[nodiscard]] bool repeatable() const override { return operation_ != halo_operation::assemble; }
  void run() override {
    ++runs_;
    switch (operation_) {
      case halo_operation::exchange: exchange_->update(); break;
      case halo_operation::accumulate: exchange_->accumulate(op::add{}); break;
      case halo_operation::assemble: exchange_->assemble(op::add{}); break;
    }
  }
  [[nodiscard]] bool verify() override {
    for (std::size_t b = 0; b < fields_.front().size(); ++b) {
      block_check<T> check(boxes_, operation_, first_box_ + b);
      if (!fields_are_right(fields_.size(), [&](std::size_t f) {
            return check.first_wrong(fields_[f][b], tag_ + f, runs_);
          }))
        return false;
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override {
    return exchange_->moved(static_cast<box_operation>(operation_));  // both have one order
  }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return exchange_metrics(team_, moved(), seconds);
  }
  [[nodiscard]] json collect_facts() override {
    std::int64_t cells = 0;
    for (std::size_t b = 0; b < fields_.front().size(); ++b)
      cells += boxes_.blocks[first_box_ + b].count();
    return {{"plan_seconds", plan_seconds_},
            {"plan",
             {{"layout_seconds", layout_seconds_},
              {"memory_bytes", max_and_mean(team_, exchange_->memory_bytes())},
              {"neighbours", max_and_mean(team_, exchange_->neighbours())},
              {"cells", max_and_mean(team_, static_cast<std::size_t>(cells))}}}};
  }

 private:
  // A field with a std::vector per box.
  box_field_view<T> in_own_memory(const box_layout& layout, const std::array<int, 3>& shared) {
    std::vector<field_view<T>> views;
    for (const auto& box : layout.mine()) {
      std::array<std::size_t, 3> extents{};
      for (int d = 0; d < 3; ++d)
        extents[d] = static_cast<std::size_t>(box.cells[d] + boxes_.shared);
      views.push_back(field_in(own_, extents, boxes_.width, boxes_.shared));
    }
    return {views, boxes_.width, shared};
  }

  team& team_;
  halo_operation operation_;
  std::uint64_t tag_, runs_ = 0;
  block_layout boxes_;
  std::size_t first_box_ = 0;  // of this rank
  double layout_seconds_ = 0, plan_seconds_ = 0;
  std::vector<box_field<T>> in_shared_;
  std::vector<std::vector<T>> own_;
  std::vector<box_field_view<T>> fields_;  // in in_shared_ or in own_
  std::unique_ptr<box_exchange> exchange_;
};

}  // namespace

std::optional<std::string> why_not_in_boxes(const variant& levels) {
  const std::string mode = levels.at("mode"), algorithm = levels.at("algorithm"),
                    reach = levels.at("reach");
  if (mode != name_of(box_mode::direct) && mode != name_of(box_mode::channel))
    return fmt::format("boxes have the modes direct and channel, not {}", mode);
  if (algorithm != "standard")
    return fmt::format(
        "boxes have one message to each neighbour, as in algorithm standard: they "
        "cannot use {}",
        algorithm);
  if (reach != "corners")
    return fmt::format("boxes fill the whole halo: they need --reach corners, not {}", reach);
  const auto domain = triple<double>(levels.at("domain"));
  const std::size_t boxes = boxes_per_rank(levels);
  if (domain[0] * domain[1] * domain[2] < static_cast<double>(boxes))
    return fmt::format("{} boxes per rank need as many cells per rank, and the domain has {:.0f}",
                       boxes, domain[0] * domain[1] * domain[2]);
  return std::nullopt;
}

std::unique_ptr<measurement> measure_boxes(team& team, const variant& levels,
                                           const launch_facts& facts) {
  if (levels.at("type") == "float")
    return std::make_unique<box_measurement<float>>(team, levels, facts);
  return std::make_unique<box_measurement<double>>(team, levels, facts);
}

}  // namespace longshore::bench

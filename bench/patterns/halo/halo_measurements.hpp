// The base of the measurements of pattern halo in all languages: the grid, figures and
// verification.
#pragma once

#include "harness/pattern.hpp"
#include "patterns/halo/placement_factors.hpp"
#include "patterns/plan_measurement.hpp"

#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {

// The functions below read factors that old records lack. They then return the level that those
// records had: exchange, cells, one block per rank.

/// exchange, accumulate or assemble.
[[nodiscard]] std::string operation_name(const variant& levels);
[[nodiscard]] halo_operation operation_of(const variant& levels);
/// The layers that neighbouring blocks share: 1 for vertices, 0 for cells.
[[nodiscard]] int shared_layers(const variant& levels);
/// Boxes per rank, or 0 for one block per rank.
[[nodiscard]] std::size_t boxes_per_rank(const variant& levels);

/// Collective. The figures of all measurements of the pattern, which are defined in
/// docs/reference/figures.md.
[[nodiscard]] std::vector<metric> exchange_metrics(team& ranks, const traffic& moved,
                                                   const summary& seconds);

class exchange_measurement : public plan_measurement {
 public:
  exchange_measurement(team& team, const variant& levels)
      : plan_measurement(team), options_(grid_of(levels)), grid_(team, options_) {}

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return exchange_metrics(grid_.ranks(), moved(), seconds);
  }
  [[nodiscard]] json collect_facts() override {
    return {{"placement", placement_facts(grid_.ranks(), grid_.placed(), options_)}};
  }

 protected:
  /// The fact "transfers" of a plan: bytes of all ranks.
  [[nodiscard]] json transfers_of(const exchange_transfers& mine);

  grid_options options_;
  rank_grid grid_;
};

/// Whether all cells of all fields are right, interior and halo. Prints the first wrong cell. Field
/// i was filled with tag + i.
template <class T, class Fields>
[[nodiscard]] bool cells_are_right(const Fields& fields, const domain_block& block,
                                   std::uint64_t tag, const rank_grid& grid, halo_reach filled,
                                   int width) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto wrong = first_wrong_cell<T>(fields[i], block, tag + i, grid, filled, width);
    if (!wrong) continue;
    fmt::print(stderr, "longshore-bench: halo: field {}: {}\n", i, *wrong);
    return false;
  }
  return true;
}

/// Why a variant cannot be measured in its language, or nothing. The default language is C++.
[[nodiscard]] std::optional<std::string> why_not_in_its_language(const variant& levels);

/// Why a variant with several boxes per rank cannot be measured, or nothing.
[[nodiscard]] std::optional<std::string> why_not_in_boxes(const variant& levels);

/// Collective. REQUIRES: a variant with several boxes per rank that can run.
[[nodiscard]] std::unique_ptr<measurement> measure_boxes(team& team, const variant& levels,
                                                         const launch_facts& facts);

/// Collective. REQUIRES: a variant in C or Fortran that can run.
[[nodiscard]] std::unique_ptr<measurement> measure_in_its_language(team& team,
                                                                   const variant& levels,
                                                                   const launch_facts& facts);

/// Collective. REQUIRES: a variant that the pattern can run.
[[nodiscard]] std::unique_ptr<measurement> measure_halo(team& team, const variant& levels,
                                                        const launch_facts& facts);

}  // namespace longshore::bench

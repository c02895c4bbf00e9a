// The base of the measurements of pattern halo in all languages: the grid, figures and
// verification.
#pragma once

#include "harness/pattern.hpp"
#include "patterns/halo/placement_factors.hpp"
#include "patterns/plan_measurement.hpp"

#include <longshore/halo/halo_exchange.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {

// The functions below read factors that old records lack. They then return the level that those
// records had: exchange, cells, one block per rank.

/// exchange, accumulate or assemble.
[[nodiscard]] inline std::string operation_name(const variant& levels) {
  return levels.value("operation", "exchange");
}
[[nodiscard]] inline halo_operation operation_of(const variant& levels) {
  const auto name = operation_name(levels);
  if (name == "accumulate") return halo_operation::accumulate;
  return name == "assemble" ? halo_operation::assemble : halo_operation::exchange;
}
/// The layers that neighbouring blocks share: 1 for vertices, 0 for cells.
[[nodiscard]] inline int shared_layers(const variant& levels) {
  return levels.value("centring", "cell") == "vertex" ? 1 : 0;
}
/// Boxes per rank, or 0 for one block per rank.
[[nodiscard]] inline std::size_t boxes_per_rank(const variant& levels) {
  return levels.value("boxes", std::size_t{0});
}

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

/// Whether first_wrong(i) describes no wrong cell of field i, for all fields. Prints the first one.
template <class FirstWrong>
[[nodiscard]] bool fields_are_right(std::size_t fields, const FirstWrong& first_wrong) {
  for (std::size_t i = 0; i < fields; ++i)
    if (const std::optional<std::string> wrong = first_wrong(i)) {
      fmt::print(stderr, "longshore-bench: halo: field {}: {}\n", i, *wrong);
      return false;
    }
  return true;
}

/// Adds a std::vector to `memories`. Returns a field in it, with the layout of class field.
template <class T>
[[nodiscard]] field_view<T> field_in(std::vector<std::vector<T>>& memories,
                                     const std::array<std::size_t, 3>& extents, int width,
                                     int shared) {
  std::array<std::ptrdiff_t, 3> strides{};
  std::ptrdiff_t cells = 1, first = 0;
  for (int d = 0; d < 3; ++d) {
    strides[d] = cells;
    first += width * cells;
    cells *= static_cast<std::ptrdiff_t>(extents[d]) + 2 * width;
  }
  T* const memory = memories.emplace_back(static_cast<std::size_t>(cells)).data();
  return {memory + first, extents, strides, width, {.shared = {shared, shared, shared}}};
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

// Measurements of pattern halo. All kinds of exchange, in all languages, have the same figures.
#pragma once

#include "harness/pattern.hpp"
#include "patterns/halo/placement_factors.hpp"

#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace longshore::bench {

/// The figures of all exchanges, defined in docs/reference/figures.md.
class exchange_measurement : public measurement {
 public:
  exchange_measurement(team& team, const variant& what)
      : options_(grid_of(what)), grid_(team, options_) {}

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override;
  [[nodiscard]] json facts() override {
    return {{"placement", placement_facts(grid_.ranks(), grid_.placed(), options_)}};
  }

 protected:
  grid_options options_;
  rank_grid grid_;
};

/// Collective. Memory is used only when it is first touched, so a single rank cannot see that it
/// does not suffice for all ranks. Throws errc::out_of_memory on all ranks alike.
void check_memory(team& team, double bytes_per_rank);

/// Whether all cells of all fields are right, interior and halo; prints the first wrong one. Field
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

/// Collective. REQUIRES: a variant that the pattern can run.
[[nodiscard]] std::unique_ptr<measurement> measure_halo(team& team, const variant& what,
                                                        const launch_facts& facts);

}  // namespace longshore::bench

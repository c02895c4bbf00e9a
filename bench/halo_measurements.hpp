// What pattern halo measures: one variant, made ready. The figures are the same whatever exchanges, and in whichever language.
#pragma once

#include "benchmark.hpp"
#include "placement_factors.hpp"

#include <longshore/halo/rank_grid.hpp>

#include <memory>

namespace longshore::bench {

/// The figures that all exchanges have; docs/reference/figures.md defines them.
class exchange_measurement : public measurement {
 public:
  exchange_measurement(team& team, const variant& what) : options_(grid_of(what)), grid_(team, options_) {}

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override;
  [[nodiscard]] json facts() override { return {{"placement", placement_facts(grid_.ranks(), grid_.placed(), options_)}}; }

 protected:
  grid_options options_;
  rank_grid grid_;
};

/// Collective. Memory is taken when it is first touched, rank by rank: only together can ranks see that it does not suffice for all of
/// them. Throws errc::out_of_memory on all ranks alike.
void check_memory(team& team, double bytes_per_rank);

/// Collective. REQUIRES: a variant that the pattern can run.
[[nodiscard]] std::unique_ptr<measurement> measure_halo(team& team, const variant& what, const launch_facts& facts);

}  // namespace longshore::bench

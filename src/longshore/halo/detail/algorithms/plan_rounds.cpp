// Selects the planner of an algorithm.
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/algorithms/hybrid.hpp>
#include <longshore/halo/detail/algorithms/sequenced.hpp>
#include <longshore/halo/detail/algorithms/staged.hpp>
#include <longshore/halo/detail/algorithms/standard.hpp>

#include <cassert>

namespace longshore::detail {

std::vector<halo_round> plan_rounds(halo_algorithm algorithm, const rank_grid& grid,
                                    std::span<const exchanged_field> fields, halo_reach reach,
                                    bool self_copies) {
  const auto standard = self_copies ? &standard_rounds_copied_last : &standard_rounds;
  switch (algorithm) {
    case halo_algorithm::faces: return standard_rounds(grid, fields, halo_reach::faces);
    case halo_algorithm::standard: return standard(grid, fields, reach);
    case halo_algorithm::staged: return staged_rounds(grid, fields, reach);
    case halo_algorithm::hybrid: return hybrid_rounds(grid, fields, reach);
    case halo_algorithm::sequenced: return sequenced_rounds(grid, fields, reach, standard);
    case halo_algorithm::staged_sequenced:
      return sequenced_rounds(grid, fields, reach, &staged_rounds);
    case halo_algorithm::automatic: break;
  }
  assert(false);
  fail(errc::unsupported, "halo algorithm 'auto' has no rounds of its own");
}

}  // namespace longshore::detail

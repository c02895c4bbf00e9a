// Plans algorithm staged: one round per dimension, whose messages include the halo of the rounds
// before. Dimensions with several ranks come first.
#include <longshore/halo/detail/algorithms/staged.hpp>
#include <longshore/halo/detail/algorithms/standard.hpp>

namespace longshore::detail {

std::vector<halo_round> staged_rounds(const rank_grid& grid,
                                      std::span<const exchanged_field> fields, halo_reach reach) {
  if (reach == halo_reach::faces) return standard_rounds(grid, fields, reach);
  std::vector<halo_round> rounds;
  std::array<bool, 3> filled{};
  // First the dimensions with several ranks, then those with one rank.
  for (const bool has_peers : {true, false})
    for (int d = 0; d < grid.dimensions(); ++d) {
      if ((grid.shape()[d] > 1) != has_peers) continue;
      rounds.push_back(make_round(grid, fields, directions_along(d), filled));
      filled[d] = true;
    }
  return rounds;
}

}  // namespace longshore::detail

#include <longshore/halo/detail/algorithms/standard.hpp>

namespace longshore::detail {

std::vector<halo_round> standard_rounds(const rank_grid& grid,
                                        std::span<const exchanged_field> fields, halo_reach reach) {
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(grid.dimensions()))
    if (direction.moves() <= static_cast<int>(reach)) directions.push_back(direction);
  return {make_round(grid, fields, directions)};
}

std::vector<halo_round> standard_rounds_copied_last(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach) {
  std::array<bool, 3> is_own{}, filled{};
  for (int d = 0; d < grid.dimensions(); ++d) {
    is_own[d] = grid.shape()[d] == 1;
    filled[d] = !is_own[d];
  }
  // The copies would fill corners, and cells that the stencil does not read must stay untouched.
  if (reach != halo_reach::corners) return standard_rounds(grid, fields, reach);
  std::vector<halo_direction> between;
  for (const auto& direction : all_directions(grid.dimensions())) {
    bool leaves = true;
    for (int d = 0; d < 3; ++d) leaves = leaves && (direction.step[d] == 0 || !is_own[d]);
    if (leaves) between.push_back(direction);
  }
  std::vector<halo_round> rounds = {make_round(grid, fields, between)};
  for (int d = grid.dimensions() - 1; d >= 0; --d) {
    if (!is_own[d]) continue;
    rounds.push_back(make_round(grid, fields, directions_along(d), filled));
    filled[d] = true;
  }
  return rounds;
}

}  // namespace longshore::detail

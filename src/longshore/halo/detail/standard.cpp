#include <longshore/halo/detail/standard.hpp>

namespace longshore::detail {

std::vector<halo_round> standard_rounds(const rank_grid& grid, std::span<const halo_part> fields,
                                        halo_reach reach) {
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(grid.dimensions()))
    if (direction.moves() <= static_cast<int>(reach)) directions.push_back(direction);
  return {plan_round(grid, fields, directions)};
}

std::vector<halo_round> standard_rounds_copied_last(const rank_grid& grid,
                                                    std::span<const halo_part> fields,
                                                    halo_reach reach) {
  std::array<bool, 3> is_own{}, filled{};
  for (int d = 0; d < grid.dimensions(); ++d) {
    is_own[d] = grid.shape()[d] == 1;
    filled[d] = !is_own[d];
  }
  // Copies carry corners: a stencil that leaves some cells alone has them left alone.
  if (reach != halo_reach::corners) return standard_rounds(grid, fields, reach);
  std::vector<halo_direction> between;
  for (const auto& direction : all_directions(grid.dimensions())) {
    bool leaves = true;
    for (int d = 0; d < 3; ++d) leaves = leaves && (direction.step[d] == 0 || !is_own[d]);
    if (leaves) between.push_back(direction);
  }
  std::vector<halo_round> rounds = {plan_round(grid, fields, between)};
  for (int d = grid.dimensions() - 1; d >= 0; --d) {
    if (!is_own[d]) continue;
    rounds.push_back(plan_round(grid, fields, directions_along(d), filled));
    filled[d] = true;
  }
  return rounds;
}

}  // namespace longshore::detail

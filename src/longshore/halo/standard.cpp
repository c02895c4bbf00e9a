#include <longshore/halo/standard.hpp>

namespace longshore {

std::vector<halo_round> standard_rounds(const rank_grid& grid, std::span<const halo_part> fields, halo_reach reach) {
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(grid.dimensions()))
    if (direction.moves() <= static_cast<int>(reach)) directions.push_back(direction);
  return {plan_round(grid, fields, directions)};
}

}  // namespace longshore

// Plans the algorithms standard and faces: one round with a message in each direction that the
// stencil reaches.
#include <longshore/halo/detail/algorithms/standard.hpp>

namespace longshore::detail {

std::vector<halo_round> standard_rounds(const rank_grid& grid,
                                        std::span<const exchanged_field> fields, halo_reach reach) {
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(grid.dimensions()))
    if (direction.step_count() <= static_cast<int>(reach)) directions.push_back(direction);
  return {make_round(grid, fields, directions)};
}

std::vector<halo_round> standard_rounds_copied_last(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach) {
  std::array<bool, 3> has_one_rank{}, filled{};
  for (int d = 0; d < grid.dimensions(); ++d) {
    has_one_rank[d] = grid.shape()[d] == 1;
    filled[d] = !has_one_rank[d];
  }
  // The copies of later rounds include halo that was received before, and so would fill corners.
  // But cells that the stencil does not read must stay untouched.
  if (reach != halo_reach::corners) return standard_rounds(grid, fields, reach);
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(grid.dimensions())) {
    bool leaves_rank = true;
    for (int d = 0; d < 3; ++d)
      leaves_rank = leaves_rank && (direction.step[d] == 0 || !has_one_rank[d]);
    if (leaves_rank) directions.push_back(direction);
  }
  std::vector<halo_round> rounds = {make_round(grid, fields, directions)};
  // The rows along x are the shortest. They are copied first, without the halo along y and z. Later
  // copies take whole rows or planes.
  for (int d = 0; d < grid.dimensions(); ++d) {
    if (!has_one_rank[d]) continue;
    rounds.push_back(make_round(grid, fields, directions_along(d), filled));
    filled[d] = true;
  }
  return rounds;
}

}  // namespace longshore::detail

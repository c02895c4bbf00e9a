#include <longshore/halo/standard.hpp>

namespace longshore {

std::vector<halo_round> standard_rounds(const rank_grid& grid, std::span<const halo_part> fields) {
  return {plan_round(grid, fields, all_directions(grid.dimensions()))};
}

}  // namespace longshore

#include <longshore/halo/faces.hpp>

namespace longshore {

std::vector<halo_round> faces_rounds(const rank_grid& grid, std::span<const halo_part> fields) {
  return {plan_round(grid, fields, face_directions(grid.dimensions()))};
}

}  // namespace longshore

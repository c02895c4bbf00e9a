// Lists directions in the order in which plans make their messages.
#include <longshore/halo/direction.hpp>

namespace longshore {

std::vector<halo_direction> face_directions(int dimensions) {
  std::vector<halo_direction> faces;
  for (int d = dimensions - 1; d >= 0; --d)
    for (const auto& direction : directions_along(d)) faces.push_back(direction);
  return faces;
}

std::array<halo_direction, 2> directions_along(int dimension) {
  std::array<halo_direction, 2> directions;
  directions[0].step[dimension] = -1;
  directions[1].step[dimension] = +1;
  return directions;
}

std::vector<halo_direction> all_directions(int dimensions) {
  std::vector<halo_direction> directions = face_directions(dimensions);
  for (const int steps : {2, 3})
    for (int index = 0; index < 27; ++index) {
      const auto direction = halo_direction::from_index(index);
      bool is_wanted = direction.step_count() == steps;
      for (int d = dimensions; d < 3; ++d) is_wanted = is_wanted && direction.step[d] == 0;
      if (is_wanted) directions.push_back(direction);
    }
  return directions;
}

}  // namespace longshore

// The traffic of a placement, counted rank by rank and message by message: what the closed forms
// are compared with in tests.
#pragma once

#include <longshore/machine/placement_traffic.hpp>

namespace longshore::testing {

inline level_crossing counted_crossing(const arrangement& arranged,
                                       std::span<const hardware_level> levels,
                                       const halo_load& load) {
  const grid_triple shape = shape_of(arranged);
  level_crossing crossing{std::vector<std::int64_t>(levels.size()), 0};
  const int places = shape[0] * shape[1] * shape[2];
  for (int position = 0; position < places; ++position) {
    const grid_triple here = coordinates_of(arranged, position);
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z) {
          const std::array<int, 3> step{x, y, z};
          const int moves = x * x + y * y + z * z;
          if (moves == 0 || (load.faces_only && moves != 1)) continue;
          grid_triple there{};
          bool exists = true;
          std::int64_t bytes = load.bytes_per_cell;
          for (int d = 0; d < 3; ++d) {
            there[d] = here[d] + step[d];
            if (there[d] < 0 || there[d] >= shape[d]) {
              exists = exists && load.periodic[d];
              there[d] = (there[d] + shape[d]) % shape[d];
            }
            if (step[d] == 0)
              bytes *= load.cells[d];
            else
              bytes *= step[d] > 0 ? load.low[d] : load.high[d];
          }
          const int peer = position_at(arranged, there);
          if (!exists || peer == position) continue;
          crossing.total += bytes;
          int group = places;  // positions in one object of the level
          for (std::size_t l = 0; l < levels.size(); ++l) {
            group /= levels[l].count;
            if (position / group == peer / group) continue;
            crossing.bytes[l] += bytes;
            break;
          }
        }
  }
  return crossing;
}

}  // namespace longshore::testing

// The directions of halo messages. A direction has one step or none along each dimension.
#pragma once

#include <array>
#include <vector>

namespace longshore {

/// A direction in the grid, or the side of a block that lies in this direction. step[d] is -1
/// (towards lower indices), 0 or +1 along dimension d: 0 is x, 1 is y, 2 is z. A message that
/// travels in direction s carries the sender's cells on side s, and fills the receiver's halo on
/// side s.opposite().
struct halo_direction {
  std::array<int, 3> step{};

  /// The direction with a number from 0 to 26, of which 13 means no step at all.
  [[nodiscard]] static constexpr halo_direction from_index(int index) noexcept {
    return {{index % 3 - 1, index / 3 % 3 - 1, index / 9 - 1}};
  }
  [[nodiscard]] constexpr halo_direction opposite() const noexcept {
    return {{-step[0], -step[1], -step[2]}};
  }
  /// The number of dimensions with a step: 1 through a face, 2 through an edge, 3 through a corner.
  [[nodiscard]] constexpr int step_count() const noexcept {
    int count = 0;
    for (const int s : step) count += s != 0;
    return count;
  }
  friend constexpr bool operator==(const halo_direction&, const halo_direction&) = default;
};

/// Returns the 2, 4 or 6 directions through faces. The last dimension comes first. In each
/// dimension, down comes before up. So direction i ^ 1 is the opposite of direction i;
/// face_exchange.cpp and mode neighbor depend on this. MPI's neighbourhood collectives use the same
/// order if the Cartesian communicator has the dimensions in reverse.
[[nodiscard]] std::vector<halo_direction> face_directions(int dimensions);

/// The directions down and up along one dimension.
[[nodiscard]] std::array<halo_direction, 2> directions_along(int dimension);

/// All 2, 8 or 26 directions: first faces, which carry the most data, then edges, then corners.
[[nodiscard]] std::vector<halo_direction> all_directions(int dimensions);

}  // namespace longshore

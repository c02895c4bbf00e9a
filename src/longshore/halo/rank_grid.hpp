// Ranks as a Cartesian grid: who sits where, and who is whose neighbour.
#pragma once

#include <longshore/halo/direction.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>

namespace longshore {

/// How ranks are arranged. Arrays are in the order x, y, z; what lies beyond `dimensions` is ignored.
struct grid_options {
  int dimensions = 3;
  std::array<int, 3> ranks{};  ///< ranks along each dimension; 0: found
  std::array<bool, 3> periodic{true, true, true};
  /// Cells of the whole domain, when the grid that is found should cut it with the least surface; zeros: factors are balanced.
  std::array<std::size_t, 3> cells{};
};

/// Factors of `ranks` over `dimensions`, as equal as can be (the least sum), the largest last: blocks of rows stay together in
/// memory when z is cut first. Entries of `given` that are not 0 are kept. Throws errc::usage when they do not divide `ranks`.
[[nodiscard]] std::array<int, 3> balanced_grid(int ranks, int dimensions, std::array<int, 3> given = {});

/// The factors for which a rank's block of a domain of `cells` has the least surface towards other ranks: exhaustive over the
/// factorisations, larger factors later among equals. At most as many ranks along a dimension as cells.
[[nodiscard]] std::array<int, 3> least_surface_grid(int ranks, int dimensions, std::array<std::size_t, 3> cells,
                                                    std::array<int, 3> given = {});

/// The grid of a team, seen by one of its ranks. Rank = x + X (y + Y z) for the coordinates x, y, z in a grid of X, Y, Z ranks.
/// Every question is answered in O(1); memory does not depend on the number of ranks. The team must outlive it.
class rank_grid {
 public:
  /// Local, but with the same options on all ranks. Throws errc::usage when the product of the grid is not the number of ranks.
  explicit rank_grid(team& team, const grid_options& options = {});

  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] int dimensions() const noexcept { return dimensions_; }
  /// Ranks along each dimension; 1 beyond dimensions().
  [[nodiscard]] const std::array<int, 3>& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::array<bool, 3>& periodic() const noexcept { return periodic_; }
  /// Where this rank sits.
  [[nodiscard]] const std::array<int, 3>& coordinates() const noexcept { return coordinates_; }
  [[nodiscard]] int rank_at(const std::array<int, 3>& coordinates) const noexcept {
    return coordinates[0] + shape_[0] * (coordinates[1] + shape_[1] * coordinates[2]);
  }
  /// The rank one step away, itself where a periodic dimension has one rank only; -1 beyond a border.
  [[nodiscard]] int neighbour(const halo_direction& direction) const noexcept;

 private:
  team& team_;
  int dimensions_;
  std::array<int, 3> shape_, coordinates_{};
  std::array<bool, 3> periodic_;
};

}  // namespace longshore

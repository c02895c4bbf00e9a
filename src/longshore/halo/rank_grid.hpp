// Ranks as a Cartesian grid: who sits where, and who is whose neighbour.
#pragma once

#include <longshore/halo/detail/neighbour_mail.hpp>
#include <longshore/halo/direction.hpp>
#include <longshore/halo/placed_grid.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace longshore {

/// Factors of `ranks` over `dimensions`, as equal as can be (the least sum), the largest last:
/// blocks of rows stay together in memory when z is cut first. Entries of `given` that are not 0
/// are kept. Throws errc::usage when they do not divide `ranks`.
[[nodiscard]] std::array<int, 3> balanced_grid(int ranks, int dimensions,
                                               std::array<int, 3> given = {});

/// The factors for which a rank's block of a domain of `cells` has the least surface towards other
/// ranks: exhaustive over the factorisations, larger factors later among equals. At most as many
/// ranks along a dimension as cells.
[[nodiscard]] std::array<int, 3> least_surface_grid(int ranks, int dimensions,
                                                    std::array<std::size_t, 3> cells,
                                                    std::array<int, 3> given = {});

/// The grid of a team, seen by one of its ranks. Which rank has which coordinates is the
/// placement's; by default rank = x + X (y + Y z) for the coordinates x, y, z in a grid of X, Y, Z
/// ranks. Every question is answered in O(1). Memory: nothing per rank of the team for the
/// placements linear and cart, 4 bytes for the others. The team must outlive it.
class rank_grid {
 public:
  /// The same options on all ranks; local for the placements linear and cart, collective for the
  /// others (place_grid). Throws errc::usage when the product of the grid is not the number of
  /// ranks, or the levels given are not those of the hardware.
  explicit rank_grid(team& team, const grid_options& options = {});

  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] int dimensions() const noexcept { return dimensions_; }
  /// Ranks along each dimension; 1 beyond dimensions().
  [[nodiscard]] const std::array<int, 3>& shape() const noexcept { return placed_.shape; }
  [[nodiscard]] const std::array<bool, 3>& periodic() const noexcept { return periodic_; }
  /// Where this rank sits.
  [[nodiscard]] const std::array<int, 3>& coordinates() const noexcept { return coordinates_; }
  [[nodiscard]] int rank_at(const std::array<int, 3>& coordinates) const noexcept {
    return placed_.rank_at(coordinates);
  }
  /// The rank one step away, itself where a periodic dimension has one rank only; -1 beyond a
  /// border.
  [[nodiscard]] int neighbour(const halo_direction& direction) const noexcept {
    return neighbour(coordinates_, direction);
  }
  /// The same as seen by the rank at `from`.
  [[nodiscard]] int neighbour(const std::array<int, 3>& from,
                              const halo_direction& direction) const noexcept;
  /// periodic(), and false beyond dimensions().
  [[nodiscard]] std::array<bool, 3> wraps() const noexcept;
  /// Letters to and from the neighbours on this node. The first call is collective, and so is then
  /// the end of the grid and of all its copies and plans.
  [[nodiscard]] const std::shared_ptr<detail::neighbour_mail>& mail() const;
  /// How the grid was placed on the hardware.
  [[nodiscard]] const placed_grid& placed() const noexcept { return placed_; }

 private:
  team& team_;
  int dimensions_;
  std::array<bool, 3> periodic_;
  placed_grid placed_;
  std::array<int, 3> coordinates_{};
  mutable std::shared_ptr<detail::neighbour_mail> mail_;
};

}  // namespace longshore

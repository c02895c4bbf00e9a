// The ranks of a team as a Cartesian grid: the coordinates and the neighbours of each rank.
#pragma once

#include <longshore/halo/direction.hpp>
#include <longshore/halo/placed_grid.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace longshore {

class rank_grid;
enum class cart_order;
namespace detail {
rank_grid cart_grid(team& team, const void* communicator, const char* headers, cart_order order);
class messenger;
const std::shared_ptr<messenger>& messenger_of(const rank_grid& grid);
}  // namespace detail

/// The shape of a grid of `ranks` ranks in 1 to 3 dimensions. The factors are as equal as possible:
/// their sum is minimal. The largest factor is the last, because rows stay together in memory when
/// z is cut most. Entries of `given` that are not 0 are kept. Throws errc::usage if the given
/// entries do not divide `ranks`.
[[nodiscard]] std::array<int, 3> balanced_grid(int ranks, int dimensions,
                                               std::array<int, 3> given = {});

/// The shape for which the blocks of a domain of `cells` have the least surface towards other
/// ranks. All factorisations are compared. Among equal surfaces, the shape with the larger factors
/// in later dimensions wins. No dimension gets more ranks than it has cells.
[[nodiscard]] std::array<int, 3> least_surface_grid(int ranks, int dimensions,
                                                    std::array<std::size_t, 3> cells,
                                                    std::array<int, 3> given = {});

/// The grid of a team, seen by one of its ranks. The placement decides which rank has which
/// coordinates. By default, the rank at coordinates x, y, z in a grid of X, Y, Z ranks is x + X (y
/// + Y z). cart_grid (longshore/mpi.hpp) makes the grid of a Cartesian communicator. Every query
/// takes O(1). Memory per rank: none for placements linear and cart, else 4 bytes for each rank of
/// the team. The team must outlive the grid.
class rank_grid {
 public:
  /// Collective: one allreduce of 24 bytes for placements linear and cart. Throws errc::usage on
  /// all ranks if their options differ, if the product of the grid is not the number of ranks, or
  /// if the given levels do not fit the hardware.
  explicit rank_grid(team& team, const grid_options& options = {});

  [[nodiscard]] team& ranks() const noexcept { return *team_; }
  [[nodiscard]] int dimensions() const noexcept { return dimensions_; }
  /// The number of ranks along each dimension, which is 1 beyond dimensions().
  [[nodiscard]] const std::array<int, 3>& shape() const noexcept { return placed_.shape; }
  [[nodiscard]] const std::array<bool, 3>& periodic() const noexcept { return periodic_; }
  /// The coordinates of this rank.
  [[nodiscard]] const std::array<int, 3>& coordinates() const noexcept { return coordinates_; }
  [[nodiscard]] int rank_at(const std::array<int, 3>& coordinates) const noexcept {
    return placed_.rank_at(coordinates);
  }
  /// The rank one step away, or -1 beyond a border. Along a periodic dimension with a single rank,
  /// this rank is its own neighbour.
  [[nodiscard]] int neighbour(const halo_direction& direction) const noexcept {
    return neighbour(coordinates_, direction);
  }
  /// The neighbour of the rank at coordinates `from`.
  [[nodiscard]] int neighbour(const std::array<int, 3>& from,
                              const halo_direction& direction) const noexcept;
  /// Whether the grid wraps around along each dimension. Beyond dimensions() the value is false.
  [[nodiscard]] std::array<bool, 3> wraps() const noexcept;
  [[nodiscard]] const placed_grid& placed() const noexcept { return placed_; }

 private:
  friend rank_grid detail::cart_grid(longshore::team& team, const void* communicator,
                                     const char* headers, cart_order order);
  rank_grid(longshore::team& team, int dimensions, const std::array<bool, 3>& periodic,
            placed_grid placed);

  friend const std::shared_ptr<detail::messenger>& detail::messenger_of(const rank_grid& grid);

  longshore::team* team_;
  int dimensions_;
  std::array<bool, 3> periodic_;
  placed_grid placed_;
  std::array<int, 3> coordinates_{};
  // Null until the first plan that needs it.
  mutable std::shared_ptr<detail::messenger> messenger_;
};

}  // namespace longshore

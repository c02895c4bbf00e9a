// Placement of a grid of ranks on the hardware by hierarchical Cartesian decomposition, as in
// hwcart (idea: Niethammer and Rabenseifner, EuroMPI 2019). Every level of the machine has a small
// grid, and the product of these grids is the grid of ranks. This file is pure arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Extents of a grid, or coordinates in one: x, y, z.
using grid_triple = std::array<int, 3>;
/// Messages use these names, because languages number the axes of arrays differently.
inline constexpr std::array<std::string_view, 3> axis_names = {"x", "y", "z"};

/// One level of a machine: `count` objects per object of the level around it. For instance,
/// {"socket", 2} and then {"numa", 4} are 4 NUMA domains in each of 2 sockets.
struct hardware_level {
  std::string name;
  int count = 1;
  friend bool operator==(const hardware_level&, const hardware_level&) = default;
};

/// The number of positions for ranks: the product of the counts. Throws errc::usage if the product
/// exceeds 2^30, or if a count is below 1.
[[nodiscard]] int position_count(std::span<const hardware_level> levels);

/// A permutation of the dimensions 0, 1, 2. For consecutive indices, the first entry varies
/// fastest.
using dimension_order = std::array<int, 3>;
inline constexpr dimension_order x_fastest = {0, 1, 2}, z_fastest = {2, 1, 0};

/// Parses an order such as "xyz", in which x is fastest. Throws errc::usage unless `text` is a
/// permutation of x, y, z.
[[nodiscard]] dimension_order dimension_order_from(std::string_view text);
[[nodiscard]] std::string name_of(const dimension_order& order);

/// The grid of one level's objects within an object of the level around it.
struct placement_level {
  std::string name;
  grid_triple grid{1, 1, 1};
  dimension_order order = x_fastest;
  [[nodiscard]] int count() const noexcept { return grid[0] * grid[1] * grid[2]; }
  friend bool operator==(const placement_level&, const placement_level&) = default;
};

/// A hierarchical placement: a map between positions and coordinates. A *position* is the number of
/// a rank along the hardware, with the innermost level fastest: the first positions share the first
/// core, then the first cache, then the first node. *Coordinates* are those in the grid of ranks.
/// Each is the sum over all levels of (coordinate in the grid of the level) x (extent of one object
/// of the level, in ranks). Conversions in both directions take O(levels), without a table.
class placement {
 public:
  /// `levels` begin with the outermost. Throws errc::usage without levels, for an extent below 1,
  /// or for more than 2^30 ranks.
  explicit placement(std::vector<placement_level> levels);

  [[nodiscard]] std::span<const placement_level> levels() const noexcept;
  /// Ranks along each dimension.
  [[nodiscard]] const grid_triple& shape() const noexcept { return shape_; }
  [[nodiscard]] int size() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  /// Ranks along each dimension in one object of a level.
  [[nodiscard]] const grid_triple& block(std::size_t level) const noexcept {
    return blocks_[level];
  }

  [[nodiscard]] grid_triple coordinates_of(int position) const noexcept;
  [[nodiscard]] int position_at(const grid_triple& coordinates) const noexcept;

  /// Throws errc::usage unless the levels have the names and counts of `machine`. The error names
  /// the first level that differs.
  void check(std::span<const hardware_level> machine) const;

 private:
  std::vector<placement_level> levels_;
  std::vector<grid_triple> blocks_;
  grid_triple shape_{1, 1, 1};
};

/// A placement that ignores the hardware: positions run along one dimension after the other. With
/// the last dimension fastest, it gives the ranks of a Cartesian communicator of MPI. With the
/// first dimension fastest, it gives rank = x + X (y + Y z) for extents X and Y.
class rank_order {
 public:
  rank_order(const grid_triple& shape, const dimension_order& order) noexcept;

  [[nodiscard]] const grid_triple& shape() const noexcept { return shape_; }
  [[nodiscard]] int size() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  [[nodiscard]] const dimension_order& order() const noexcept { return order_; }
  /// For each dimension, the distance between the positions of neighbours.
  [[nodiscard]] const grid_triple& strides() const noexcept { return strides_; }

  [[nodiscard]] grid_triple coordinates_of(int position) const noexcept;
  [[nodiscard]] int position_at(const grid_triple& at) const noexcept {
    return at[0] * strides_[0] + at[1] * strides_[1] + at[2] * strides_[2];
  }

 private:
  grid_triple shape_, strides_{};
  dimension_order order_;
};

/// The grid of MPI_Dims_create: non-increasing factors of `ranks` that are as equal as possible
/// (smallest sum). Nonzero entries of `given` are kept; entries after the first `dimensions` are 1.
/// Throws errc::usage if no such grid exists.
[[nodiscard]] grid_triple mpi_dims_create(int ranks, int dimensions = 3,
                                          const grid_triple& given = {});

/// MPI's Cartesian order: the last dimension is fastest.
[[nodiscard]] inline rank_order mpi_cartesian_order(const grid_triple& shape) noexcept {
  return {shape, z_fastest};
}

/// The grid as text, for instance "2x1x4".
[[nodiscard]] std::string text_of(const grid_triple& grid);

}  // namespace longshore

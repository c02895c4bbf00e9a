// Placement of a grid of ranks on the hardware: hierarchical Cartesian decomposition, as hwcart has
// it (Niethammer and Rabenseifner, EuroMPI 2019, discuss the idea). Every level of the machine has
// a small grid of its own; together they make the grid of ranks. Pure arithmetic: it knows neither
// a machine nor a team.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace longshore {

/// Extents of a grid, or coordinates in one: x, y, z.
using grid_triple = std::array<int, 3>;

/// One level of a machine, seen from the level around it: 4 numa domains in every socket are
/// {"numa", 4}.
struct hardware_level {
  std::string name;
  int count = 1;
  friend bool operator==(const hardware_level&, const hardware_level&) = default;
};

/// Product of the counts: how many places for ranks there are. Throws errc::usage beyond 2^30, or
/// for a count below 1.
[[nodiscard]] int places_of(std::span<const hardware_level> levels);

/// The dimensions 0, 1, 2 in the order in which consecutive indices walk them, fastest first.
using dimension_order = std::array<int, 3>;
inline constexpr dimension_order x_fastest = {0, 1, 2}, z_fastest = {2, 1, 0};

/// "xyz": x fastest. Throws errc::usage for anything but a permutation of these three letters.
[[nodiscard]] dimension_order dimension_order_from(std::string_view text);
[[nodiscard]] std::string name_of(const dimension_order& order);

/// The grid that the objects of one level form within an object of the level around it.
struct placement_level {
  std::string name;
  grid_triple grid{1, 1, 1};
  dimension_order order = x_fastest;
  [[nodiscard]] int count() const noexcept { return grid[0] * grid[1] * grid[2]; }
  friend bool operator==(const placement_level&, const placement_level&) = default;
};

/// A decomposition. A *position* is a place for a rank in the machine, numbered along the hardware:
/// the innermost level fastest, so that the first positions share the first core, then the first
/// cache, then the first node. Coordinates are those of the grid of ranks: sum over the levels of
/// the level's coordinate times the extent of what the inner levels hold. Both ways in O(levels),
/// without a table.
class placement {
 public:
  /// `levels` from the outermost in. Throws errc::usage when there is none, or a grid has a number
  /// below 1.
  explicit placement(std::vector<placement_level> levels);

  [[nodiscard]] std::span<const placement_level> levels() const noexcept { return levels_; }
  /// Ranks along each dimension.
  [[nodiscard]] const grid_triple& shape() const noexcept { return shape_; }
  [[nodiscard]] int size() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  /// Ranks along each dimension in one object of a level.
  [[nodiscard]] const grid_triple& block(std::size_t level) const noexcept {
    return blocks_[level];
  }

  [[nodiscard]] grid_triple coordinates_of(int position) const noexcept;
  [[nodiscard]] int position_at(const grid_triple& coordinates) const noexcept;

  /// Throws errc::usage unless the levels are those of a machine, by name and count: the error
  /// names the first that is not.
  void check(std::span<const hardware_level> machine) const;

 private:
  std::vector<placement_level> levels_;
  std::vector<grid_triple> blocks_;
  grid_triple shape_{1, 1, 1};
};

/// Positions along the dimensions of a grid, one dimension after the other, whatever the machine
/// is: as MPI numbers the ranks of a Cartesian communicator (last dimension fastest), or as rank =
/// x + X (y + Y z) does (first dimension fastest).
class rank_order {
 public:
  rank_order(const grid_triple& shape, const dimension_order& order) noexcept;

  [[nodiscard]] const grid_triple& shape() const noexcept { return shape_; }
  [[nodiscard]] int size() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  [[nodiscard]] const dimension_order& order() const noexcept { return order_; }
  /// How far apart the positions of neighbours along a dimension are.
  [[nodiscard]] const grid_triple& strides() const noexcept { return strides_; }

  [[nodiscard]] grid_triple coordinates_of(int position) const noexcept;
  [[nodiscard]] int position_at(const grid_triple& at) const noexcept {
    return at[0] * strides_[0] + at[1] * strides_[1] + at[2] * strides_[2];
  }

 private:
  grid_triple shape_, strides_{};
  dimension_order order_;
};

/// Which position sits where in the grid of ranks.
using arrangement = std::variant<placement, rank_order>;

[[nodiscard]] grid_triple shape_of(const arrangement& arranged) noexcept;
[[nodiscard]] grid_triple coordinates_of(const arrangement& arranged, int position) noexcept;
[[nodiscard]] int position_at(const arrangement& arranged, const grid_triple& coordinates) noexcept;

/// The grid of MPI_Dims_create: factors of `ranks` as equal as can be (least sum), not increasing;
/// entries of `given` that are not 0 are kept. Beyond `dimensions` 1. Throws errc::usage when no
/// such grid exists.
[[nodiscard]] grid_triple mpi_dims_create(int ranks, int dimensions = 3,
                                          const grid_triple& given = {});

/// MPI's Cartesian order: rows of the grid one after the other, the last dimension fastest,
/// consecutive ranks side by side on the nodes.
[[nodiscard]] inline rank_order mpi_cartesian_order(const grid_triple& shape) noexcept {
  return {shape, z_fastest};
}

/// "2x1x4".
[[nodiscard]] std::string text_of(const grid_triple& grid);

}  // namespace longshore

// What all copies of a layout share.
#pragma once

#include <longshore/boxes/box_layout.hpp>
#include <longshore/boxes/detail/box_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace longshore::detail {

/// A map from the index space to itself: cell c becomes cell o with o[axis[d]] = sign[d] * c[d] +
/// offset[d]. Periodic dimensions have maps without turns.
struct cell_map {
  cell_box where;  ///< the cells to which the map applies
  std::array<int, 3> axis{0, 1, 2}, sign{1, 1, 1};
  std::array<std::int64_t, 3> offset{};

  [[nodiscard]] std::array<std::int64_t, 3> operator()(
      const std::array<std::int64_t, 3>& cell) const noexcept;
  [[nodiscard]] cell_box operator()(const cell_box& cells) const noexcept;
  /// The inverse of operator().
  [[nodiscard]] cell_box inverse(const cell_box& cells) const noexcept;
};

/// Some cells of a region, and the box that owns them.
struct owned_piece {
  cell_box cells;     ///< in the region
  std::uint32_t box;  ///< the number of the box
  std::uint32_t map;  ///< the number of the map that leads from the region to the box
};

class layout_data {
 public:
  layout_data(team& ranks, std::vector<cell_box> boxes, std::vector<std::size_t> first_box,
              box_domain domain);

  [[nodiscard]] team& ranks() const noexcept { return ranks_; }
  [[nodiscard]] const std::vector<cell_box>& boxes() const noexcept { return boxes_; }
  [[nodiscard]] std::size_t first_box(int rank) const noexcept {
    return first_box_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int owner(std::size_t box) const noexcept;
  [[nodiscard]] const box_domain& domain() const noexcept { return domain_; }
  /// The maps of the domain. Map 0 changes nothing.
  [[nodiscard]] const std::vector<cell_map>& maps() const noexcept { return maps_; }

  /// The cells of a box of a field that shares layers.
  [[nodiscard]] cell_box points(std::size_t box, const std::array<int, 3>& shared) const noexcept;
  /// Returns the cells of `region` that boxes have, by their owners, in an order that depends on the
  /// region and the layout only. A cell that several boxes share has one owner: the box with the
  /// lowest number.
  [[nodiscard]] std::vector<owned_piece> owners_of(const cell_box& region,
                                                   const std::array<int, 3>& shared) const;
  /// Adds the numbers of the boxes that contain cells of `region`, or have such cells within
  /// `widths`.
  void boxes_that_reach(const cell_box& region, const std::array<int, 3>& shared,
                        const std::array<int, 3>& low, const std::array<int, 3>& high,
                        const std::vector<cell_map>& maps, std::vector<std::uint32_t>& found) const;
  /// Throws errc::usage for the first fault of the layout.
  void check() const;

 private:
  void check_maps() const;

  team& ranks_;
  std::vector<cell_box> boxes_;
  std::vector<std::size_t> first_box_;  // one more than ranks
  box_domain domain_;
  std::vector<cell_map> maps_;
  box_tree tree_;
};

/// Returns a box with `low` more cells on the low sides and `high` more on the high sides.
[[nodiscard]] cell_box grown(cell_box box, const std::array<int, 3>& low,
                             const std::array<int, 3>& high) noexcept;

/// Adds the cells of `from` that are not in `taken` to `rest`, as boxes.
void subtract(const cell_box& from, const cell_box& taken, std::vector<cell_box>& rest);

}  // namespace longshore::detail

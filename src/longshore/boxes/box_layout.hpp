// The boxes of all ranks: any number per rank, of any sizes, anywhere in an index space.
//
//     longshore::box_layout layout(team, my_boxes, {.domain = domain, .periodic = {true, true, false}});
#pragma once

#include <longshore/boxes/cell_box.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

namespace detail {
class layout_data;
}

/// Cells outside of all boxes that are copies of cells elsewhere, with turned axes: the faces of a
/// cubed sphere, or the fold of a tripolar grid. A cell c of `beyond` is a copy of cell o: for each
/// dimension d, o[axis[d]] = sign[d] * c[d] + offset[d].
struct glued_cells {
  cell_box beyond;
  std::array<int, 3> axis{0, 1, 2};
  std::array<int, 3> sign{1, 1, 1};
  std::array<std::int64_t, 3> offset{};  ///< indexed by d, like axis and sign
};

struct box_domain {
  /// The whole domain. Only its extents along periodic dimensions are used.
  cell_box domain = {};
  std::array<bool, 3> periodic{};
  std::vector<glued_cells> glued = {};
};

/// The boxes of a domain, which do not overlap, and their ranks. Boxes are numbered in the order of
/// ranks, and on each rank in its own order. Each rank stores the boxes of all ranks, with some 150
/// bytes per box. Copies of a layout on a rank share this memory. The team must outlive the layout.
class box_layout {
 public:
  /// Collective: an allgather of 48 bytes per box. `mine` are the boxes of this rank, none or more.
  /// All ranks pass the same domain. Throws errc::usage on all ranks if boxes overlap, a box has no
  /// cells, a box lies outside of the domain along a periodic dimension, or glued cells lie in a
  /// box.
  box_layout(team& ranks, std::span<const cell_box> mine, const box_domain& domain = {});
  /// Collective: one allreduce. All ranks know all boxes: box i belongs to rank owners[i]. All
  /// ranks pass the same arguments. Boxes are renumbered in the order of ranks. Throws like the
  /// constructor above.
  box_layout(team& ranks, std::span<const cell_box> all, std::span<const int> owners,
             const box_domain& domain = {});

  [[nodiscard]] team& ranks() const noexcept;
  /// All boxes, by their numbers.
  [[nodiscard]] std::span<const cell_box> boxes() const noexcept;
  /// The boxes of this rank.
  [[nodiscard]] std::span<const cell_box> mine() const noexcept;
  /// The number of the first box of a rank. The boxes of rank r are first_box(r) to
  /// first_box(r + 1) - 1.
  [[nodiscard]] std::size_t first_box(int rank) const noexcept;
  /// The rank of a box.
  [[nodiscard]] int owner(std::size_t box) const noexcept;
  [[nodiscard]] const box_domain& domain() const noexcept;

  /// @cond For plans.
  [[nodiscard]] const detail::layout_data& data() const noexcept { return *data_; }
  /// @endcond

 private:
  std::shared_ptr<const detail::layout_data> data_;
};

}  // namespace longshore

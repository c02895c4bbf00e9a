// Finds the boxes that intersect a region, without a look at all boxes.
#pragma once

#include <longshore/boxes/cell_box.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// A tree of bounding boxes. Building it takes O(n log n), a query O(log n) per box found. Memory: 64
/// bytes per box at most. The boxes outlive the tree.
class box_tree {
 public:
  box_tree() = default;
  explicit box_tree(std::span<const cell_box> boxes);

  /// Adds the numbers of all boxes that intersect `region` to `found`, in any order.
  void find(const cell_box& region, std::vector<std::uint32_t>& found) const;

 private:
  struct node {
    cell_box bounds;
    std::uint32_t begin, end;  // in order_
    std::uint32_t right;       // the number of the second child; the first one follows the node
  };
  void build(std::uint32_t begin, std::uint32_t end);
  void find(std::uint32_t number, const cell_box& region, std::vector<std::uint32_t>& found) const;

  std::span<const cell_box> boxes_;
  std::vector<std::uint32_t> order_;
  std::vector<node> nodes_;
};

}  // namespace longshore::detail

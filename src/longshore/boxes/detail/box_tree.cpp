// Divides the boxes at the median of their centres, along the longest dimension of their bounds.
#include <longshore/boxes/detail/box_tree.hpp>

#include <algorithm>
#include <numeric>

namespace longshore::detail {
namespace {

constexpr std::uint32_t boxes_of_leaf = 4;

}  // namespace

box_tree::box_tree(std::span<const cell_box> boxes) : boxes_(boxes), order_(boxes.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
  nodes_.reserve(boxes.size() / 2 + 1);
  if (!boxes.empty()) build(0, static_cast<std::uint32_t>(boxes.size()));
}

void box_tree::build(std::uint32_t begin, std::uint32_t end) {
  cell_box bounds = boxes_[order_[begin]];
  for (std::uint32_t i = begin + 1; i < end; ++i) {
    const auto& box = boxes_[order_[i]];
    for (int d = 0; d < 3; ++d) {
      const std::int64_t last = std::max(bounds.end(d), box.end(d));
      bounds.first[d] = std::min(bounds.first[d], box.first[d]);
      bounds.cells[d] = last - bounds.first[d];
    }
  }
  const auto number = nodes_.size();
  nodes_.push_back({bounds, begin, end, 0});
  if (end - begin <= boxes_of_leaf) return;
  const auto longest = std::max_element(bounds.cells.begin(), bounds.cells.end());
  const auto d = static_cast<int>(longest - bounds.cells.begin());
  const std::uint32_t middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](std::uint32_t a, std::uint32_t b) {
                     return boxes_[a].first[d] + boxes_[a].end(d) <
                            boxes_[b].first[d] + boxes_[b].end(d);
                   });
  build(begin, middle);
  nodes_[number].right = static_cast<std::uint32_t>(nodes_.size());
  build(middle, end);
}

void box_tree::find(const cell_box& region, std::vector<std::uint32_t>& found) const {
  if (!nodes_.empty() && !region.is_empty()) find(0, region, found);
}

void box_tree::find(std::uint32_t number, const cell_box& region,
                    std::vector<std::uint32_t>& found) const {
  const auto& here = nodes_[number];
  if (intersection(here.bounds, region).is_empty()) return;
  if (here.right == 0) {
    for (std::uint32_t i = here.begin; i < here.end; ++i)
      if (!intersection(boxes_[order_[i]], region).is_empty()) found.push_back(order_[i]);
    return;
  }
  find(number + 1, region, found);
  find(here.right, region, found);
}

}  // namespace longshore::detail

// Finds the owners of the cells of a region, and the faults of a layout.
#include <longshore/boxes/detail/layout_data.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/placement.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace longshore::detail {
namespace {

constexpr cell_box everywhere{
    {std::numeric_limits<std::int64_t>::min() / 4, std::numeric_limits<std::int64_t>::min() / 4,
     std::numeric_limits<std::int64_t>::min() / 4},
    {std::numeric_limits<std::int64_t>::max() / 2, std::numeric_limits<std::int64_t>::max() / 2,
     std::numeric_limits<std::int64_t>::max() / 2}};

// Map 0, a map for each way around periodic dimensions, and those of glued cells.
std::vector<cell_map> maps_of(const box_domain& domain) {
  std::vector<cell_map> maps{{.where = everywhere}};
  const auto steps = [&](int d) { return domain.periodic[d] ? 1 : 0; };
  for (int z = -steps(2); z <= steps(2); ++z)
    for (int y = -steps(1); y <= steps(1); ++y)
      for (int x = -steps(0); x <= steps(0); ++x) {
        if (x == 0 && y == 0 && z == 0) continue;
        maps.push_back({.where = everywhere,
                        .offset = {x * domain.domain.cells[0], y * domain.domain.cells[1],
                                   z * domain.domain.cells[2]}});
      }
  for (const auto& glued : domain.glued)
    maps.push_back({glued.beyond, glued.axis, glued.sign, glued.offset});
  return maps;
}

std::string text_of(const cell_box& box) {
  return fmt::format("[{}, {}) x [{}, {}) x [{}, {})", box.first[0], box.end(0), box.first[1],
                     box.end(1), box.first[2], box.end(2));
}

}  // namespace

cell_box grown(cell_box box, const std::array<int, 3>& low,
               const std::array<int, 3>& high) noexcept {
  for (int d = 0; d < 3; ++d) {
    box.first[d] -= low[d];
    box.cells[d] += low[d] + high[d];
  }
  return box;
}

void subtract(const cell_box& from, const cell_box& taken, std::vector<cell_box>& rest) {
  const auto both = intersection(from, taken);
  if (both.is_empty()) {
    rest.push_back(from);
    return;
  }
  cell_box left = from;  // what may still contain taken cells
  for (int d = 2; d >= 0; --d) {
    cell_box below = left, above = left;
    below.cells[d] = both.first[d] - left.first[d];
    above.first[d] = both.end(d);
    above.cells[d] = left.end(d) - both.end(d);
    if (!below.is_empty()) rest.push_back(below);
    if (!above.is_empty()) rest.push_back(above);
    left.first[d] = both.first[d];
    left.cells[d] = both.cells[d];
  }
}

std::array<std::int64_t, 3> cell_map::operator()(
    const std::array<std::int64_t, 3>& cell) const noexcept {
  std::array<std::int64_t, 3> mapped{};
  for (int d = 0; d < 3; ++d) mapped[axis[d]] = sign[d] * cell[d] + offset[d];
  return mapped;
}

cell_box cell_map::operator()(const cell_box& cells) const noexcept {
  cell_box mapped;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t first = sign[d] > 0 ? cells.first[d] : cells.end(d) - 1;
    mapped.first[axis[d]] = sign[d] * first + offset[d];
    mapped.cells[axis[d]] = cells.cells[d];
  }
  return mapped;
}

cell_box cell_map::inverse(const cell_box& cells) const noexcept {
  cell_box original;
  for (int d = 0; d < 3; ++d) {
    const std::int64_t first = sign[d] > 0 ? cells.first[axis[d]] : cells.end(axis[d]) - 1;
    original.first[d] = sign[d] * (first - offset[d]);
    original.cells[d] = cells.cells[axis[d]];
  }
  return original;
}

layout_data::layout_data(team& ranks, std::vector<cell_box> boxes,
                         std::vector<std::size_t> first_box, box_domain domain)
    : ranks_(ranks),
      boxes_(std::move(boxes)),
      first_box_(std::move(first_box)),
      domain_(std::move(domain)),
      maps_(maps_of(domain_)),
      tree_(boxes_) {}

int layout_data::owner(std::size_t box) const noexcept {
  const auto after = std::upper_bound(first_box_.begin(), first_box_.end(), box);
  return static_cast<int>(after - first_box_.begin()) - 1;
}

cell_box layout_data::points(std::size_t box, const std::array<int, 3>& shared) const noexcept {
  return grown(boxes_[box], {}, shared);
}

std::vector<owned_piece> layout_data::owners_of(const cell_box& region,
                                                const std::array<int, 3>& shared) const {
  std::vector<owned_piece> candidates;
  std::vector<std::uint32_t> found;
  for (std::uint32_t m = 0; m < maps_.size(); ++m) {
    const auto mapped = maps_[m](intersection(region, maps_[m].where));
    if (mapped.is_empty()) continue;
    found.clear();
    tree_.find(grown(mapped, shared, {}), found);
    for (const auto box : found) {
      const auto both = intersection(mapped, points(box, shared));
      if (!both.is_empty()) candidates.push_back({maps_[m].inverse(both), box, m});
    }
  }
  // The order of two maps of one box does not depend on the region. Maps that overlap are shifts,
  // and a larger number is a larger shift along the last dimension that differs. Map 0 is the shift
  // of 0.
  const auto key = [&](const owned_piece& piece) {
    const auto& [x, y, z] = maps_[piece.map].offset;
    return std::tuple(piece.box, z, y, x, piece.map);
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const owned_piece& a, const owned_piece& b) { return key(a) < key(b); });
  const bool may_overlap = shared != std::array<int, 3>{} || !domain_.glued.empty();
  if (!may_overlap) return candidates;
  std::vector<owned_piece> pieces;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::vector<cell_box> left{candidates[i].cells}, rest;
    for (std::size_t earlier = 0; earlier < i && !left.empty(); ++earlier) {
      rest.clear();
      for (const auto& cells : left) subtract(cells, candidates[earlier].cells, rest);
      left.swap(rest);
    }
    for (const auto& cells : left) pieces.push_back({cells, candidates[i].box, candidates[i].map});
  }
  return pieces;
}

void layout_data::boxes_that_reach(const cell_box& region, const std::array<int, 3>& shared,
                                   const std::array<int, 3>& low, const std::array<int, 3>& high,
                                   const std::vector<cell_map>& maps,
                                   std::vector<std::uint32_t>& found) const {
  for (const auto& map : maps) {
    // A box at `cells` reaches cells up to `low` below it, and up to `high` and `shared` above it.
    auto cells = intersection(map.inverse(region), map.where);
    if (!cells.is_empty()) tree_.find(grown(grown(cells, high, low), shared, {}), found);
  }
}

void layout_data::check() const {
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const auto& box = boxes_[i];
    const auto of_rank = [&](std::size_t b) {
      return fmt::format("the {} box of rank {}, {},", nth(b - first_box(owner(b))), owner(b),
                         text_of(boxes_[b]));
    };
    if (box.is_empty()) fail(errc::usage, "{} has no cells", of_rank(i));
    for (int d = 0; d < 3; ++d)
      if (domain_.periodic[d] &&
          (box.first[d] < domain_.domain.first[d] || box.end(d) > domain_.domain.end(d)))
        fail(errc::usage, "{} lies outside of the domain along {}, which is periodic: [{}, {})",
             of_rank(i), axis_names[d], domain_.domain.first[d], domain_.domain.end(d));
    std::vector<std::uint32_t> found;
    tree_.find(box, found);
    for (const auto other : found)
      if (other != i)
        fail(errc::usage, "{} overlaps {} in cells: boxes of a layout are disjoint", of_rank(i),
             of_rank(other));
  }
  check_maps();
}

void layout_data::check_maps() const {
  for (int d = 0; d < 3; ++d)
    if (domain_.periodic[d] && domain_.domain.cells[d] < 1)
      fail(errc::usage, "the domain has {} cells along {}, which is periodic",
           domain_.domain.cells[d], axis_names[d]);
  for (std::size_t g = 0; g < domain_.glued.size(); ++g) {
    const auto& glued = domain_.glued[g];
    std::array<bool, 3> is_used{};
    for (int d = 0; d < 3; ++d) {
      const int axis = glued.axis[d];
      if (axis < 0 || axis > 2 || is_used[axis] || (glued.sign[d] != 1 && glued.sign[d] != -1))
        fail(errc::usage, "the {} glued cells: use each axis once, and 1 or -1 as signs", nth(g));
      is_used[axis] = true;
    }
    std::vector<std::uint32_t> found;
    tree_.find(glued.beyond, found);
    if (!found.empty())
      fail(errc::usage,
           "the {} glued cells, {}, lie in the {} box: they must lie outside of all boxes", nth(g),
           text_of(glued.beyond), nth(found.front()));
  }
}

}  // namespace longshore::detail

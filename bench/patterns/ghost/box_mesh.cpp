// Elements have coordinates in quarters of a cell: the centroid of a hexahedron lies at 2, 2, 2,
// and that of a tetrahedron at a permutation of 1, 2, 3. A part is a box in these coordinates, so
// that the number of its elements, and the number of an element in it, have closed forms.
//
// A cube is cut as by Kuhn: one tetrahedron for each order in which a path along the edges from the
// lowest corner to the highest takes the three dimensions. Equal cubes fit together.
#include "patterns/ghost/mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace longshore::bench {
namespace {

using point = std::array<std::int64_t, 3>;
constexpr std::int64_t quarters = 4;

// The centroid of each kind of element within a cell, in quarters.
constexpr std::array<point, 1> hexahedron{{{2, 2, 2}}};
// If a path takes a dimension first, second or third, the centroid lies at 3, 2 or 1 in this
// dimension.
constexpr std::array<point, 6> tetrahedra{
    {{3, 2, 1}, {3, 1, 2}, {2, 3, 1}, {1, 3, 2}, {2, 1, 3}, {1, 2, 3}}};

struct cell_element {
  point cell;
  std::size_t kind;
  friend auto operator<=>(const cell_element&, const cell_element&) = default;
};

struct part_box {
  point low{}, high{};  // in quarters
};

class cut_box {
 public:
  cut_box(const box_mesh& mesh, int parts) : parts_(parts) {
    if (mesh.kind == box_mesh::cells::tetrahedra)
      kinds_ = tetrahedra;
    else
      kinds_ = hexahedron;
    const double cells = std::max(
        1.0, static_cast<double>(mesh.elements) * parts / static_cast<double>(kinds_.size()));
    const double x = std::max(1.0, std::round(std::cbrt(cells))),
                 y = std::max(1.0, std::round(std::sqrt(cells / x))),
                 z = std::max(1.0, std::round(cells / (x * y)));
    whole_.high = {quarters * std::llround(x), quarters * std::llround(y),
                   quarters * std::llround(z)};
  }

  [[nodiscard]] std::size_t kinds() const { return kinds_.size(); }
  [[nodiscard]] point centroid(const cell_element& of) const {
    point at = kinds_[of.kind];
    for (std::size_t d = 0; d < 3; ++d) at[d] += quarters * of.cell[d];
    return at;
  }
  [[nodiscard]] static bool contains(const part_box& within, const point& at) {
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d)
      inside = inside && at[d] >= within.low[d] && at[d] < within.high[d];
    return inside;
  }
  [[nodiscard]] bool exists(const cell_element& tried) const {
    return contains(whole_, centroid(tried));
  }

  // Follows the bisection from the whole box to a part. goes_left(second, d, cut) chooses a side of
  // the cut at `cut` through dimension d. `second` is the first part on the right of the cut.
  template <class GoesLeft>
  std::pair<int, part_box> find(const GoesLeft& goes_left) const {
    part_box around = whole_;
    int first = 0;
    for (int parts = parts_; parts > 1;) {
      const int left = parts / 2;
      std::size_t d = 0;
      for (std::size_t other = 1; other < 3; ++other)
        if (extent(around, other) > extent(around, d)) d = other;
      const std::int64_t cut = cut_of(around, d, left, parts);
      if (goes_left(first + left, d, cut)) {
        around.high[d] = cut;
        parts = left;
      } else {
        around.low[d] = cut;
        first += left;
        parts -= left;
      }
    }
    return {first, around};
  }
  [[nodiscard]] part_box box_of(int part) const {
    return find([&](int second, std::size_t, std::int64_t) { return part < second; }).second;
  }
  [[nodiscard]] location locate(const cell_element& sought) const {
    const point at = centroid(sought);
    const auto [part, around] =
        find([&](int, std::size_t d, std::int64_t cut) { return at[d] < cut; });
    return {part, number_in(around, sought)};
  }

  // The number of elements in a box that come before `end`, in the order of z, y, x and kind.
  [[nodiscard]] std::uint64_t number_in(const part_box& within, const cell_element& end) const {
    std::int64_t before = 0;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      std::array<std::int64_t, 3> count{}, skipped{};
      for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t first = first_cell(within.low[d], kind, d);
        count[d] = std::max<std::int64_t>(0, first_cell(within.high[d], kind, d) - first);
        skipped[d] = end.cell[d] - first;
      }
      const auto clipped = [&](std::size_t d) {
        return std::clamp<std::int64_t>(skipped[d], 0, count[d]);
      };
      const auto is_inside = [&](std::size_t d) {
        return skipped[d] >= 0 && skipped[d] < count[d];
      };
      before += clipped(2) * count[1] * count[0];
      if (!is_inside(2)) continue;
      before += clipped(1) * count[0];
      if (!is_inside(1)) continue;
      before += clipped(0) + (is_inside(0) && kind < end.kind ? 1 : 0);
    }
    return static_cast<std::uint64_t>(before);
  }

  // Calls visit(element) for the elements of a box in the order of their numbers.
  template <class Visit>
  void for_each(const part_box& within, const Visit& visit) const {
    point low{}, high{};  // cells
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = within.low[d] / quarters;
      high[d] = (within.high[d] + quarters - 1) / quarters;
    }
    cell_element at{};
    for (at.cell[2] = low[2]; at.cell[2] < high[2]; ++at.cell[2])
      for (at.cell[1] = low[1]; at.cell[1] < high[1]; ++at.cell[1])
        for (at.cell[0] = low[0]; at.cell[0] < high[0]; ++at.cell[0])
          for (at.kind = 0; at.kind < kinds_.size(); ++at.kind)
            if (contains(within, centroid(at))) visit(at);
  }

  // Calls visit(neighbour) for the elements that share a face with an element.
  template <class Visit>
  void for_each_neighbour(const cell_element& of, const Visit& visit) const {
    const auto visit_if_exists = [&](const cell_element& neighbour) {
      if (exists(neighbour)) visit(neighbour);
    };
    if (kinds_.size() == 1) {
      for (std::size_t d = 0; d < 3; ++d)
        for (const int step : {-1, 1}) visit_if_exists(moved(of, d, step, of.kind));
      return;
    }
    std::array<std::size_t, 3> path{};  // dimensions in the order of the path
    for (std::size_t d = 0; d < 3; ++d) path[static_cast<std::size_t>(3 - kinds_[of.kind][d])] = d;
    const auto [a, b, c] = path;
    visit_if_exists({of.cell, kind_of({b, a, c})});
    visit_if_exists({of.cell, kind_of({a, c, b})});
    visit_if_exists(moved(of, a, 1, kind_of({b, c, a})));
    visit_if_exists(moved(of, c, -1, kind_of({c, a, b})));
  }

 private:
  static std::int64_t extent(const part_box& of, std::size_t d) { return of.high[d] - of.low[d]; }
  static cell_element moved(cell_element from, std::size_t d, int step, std::size_t kind) {
    from.cell[d] += step;
    from.kind = kind;
    return from;
  }
  // The cell of the first element of a kind at or after a coordinate.
  [[nodiscard]] std::int64_t first_cell(std::int64_t coordinate, std::size_t kind,
                                        std::size_t d) const {
    return (coordinate - kinds_[kind][d] + quarters - 1) / quarters;
  }
  [[nodiscard]] std::size_t kind_of(const std::array<std::size_t, 3>& path) const {
    point at{};
    for (std::size_t k = 0; k < 3; ++k) at[path[k]] = 3 - static_cast<std::int64_t>(k);
    return static_cast<std::size_t>(std::find(kinds_.begin(), kinds_.end(), at) - kinds_.begin());
  }
  // Cuts between two cells, or through the middle of a cell of tetrahedra.
  [[nodiscard]] std::int64_t cut_of(const part_box& around, std::size_t d, int left,
                                    int parts) const {
    const double share = static_cast<double>(left) / parts;
    const double cells = share * static_cast<double>(extent(around, d)) / quarters;
    const std::int64_t within = kinds_.size() == 1 ? 0 : quarters / 2;
    const std::int64_t first = (around.low[d] + quarters - 1) / quarters;
    const std::int64_t cut =
        quarters * (first + std::llround(cells - static_cast<double>(within) / quarters)) + within;
    return std::clamp(cut, around.low[d], around.high[d]);
  }

  int parts_;
  std::span<const point> kinds_;
  part_box whole_;
};

void keep_sorted_and_unique(std::vector<cell_element>& elements) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
}

// The elements of `layer`, and those within `steps` steps of them on ways outside of box `avoided`.
std::vector<cell_element> grow(const cut_box& mesh, std::vector<cell_element> layer,
                               std::uint64_t steps, const part_box& avoided) {
  keep_sorted_and_unique(layer);
  std::vector<cell_element> found = layer, previous;
  for (std::uint64_t step = 0; step < steps && !layer.empty(); ++step) {
    std::vector<cell_element> near, next;
    for (const auto& of : layer)
      mesh.for_each_neighbour(of, [&](const cell_element& neighbour) {
        if (!cut_box::contains(avoided, mesh.centroid(neighbour))) near.push_back(neighbour);
      });
    keep_sorted_and_unique(near);
    // A step leads to the layer before, to the same layer, or to the next one.
    for (const auto& of : near)
      if (!std::binary_search(layer.begin(), layer.end(), of) &&
          !std::binary_search(previous.begin(), previous.end(), of))
        next.push_back(of);
    found.insert(found.end(), next.begin(), next.end());
    previous = std::exchange(layer, std::move(next));
  }
  return found;
}

// The elements outside of a box within `layers` steps of its elements.
std::vector<cell_element> surrounding(const cut_box& mesh, const part_box& part,
                                      std::uint64_t layers) {
  std::vector<cell_element> first;
  mesh.for_each(part, [&](const cell_element& of) {
    point low = mesh.centroid(of), high = low;
    for (std::size_t d = 0; d < 3; ++d) low[d] -= quarters, high[d] += quarters;
    // A step over a face changes a coordinate by a cell at most.
    if (cut_box::contains(part, low) && cut_box::contains(part, high)) return;
    mesh.for_each_neighbour(of, [&](const cell_element& neighbour) {
      if (!cut_box::contains(part, mesh.centroid(neighbour))) first.push_back(neighbour);
    });
  });
  return grow(mesh, std::move(first), layers - 1, part);
}

}  // namespace

mesh_part part_of(const box_mesh& mesh, int part, int parts) {
  const cut_box cut(mesh, parts);
  const part_box own = cut.box_of(part);
  mesh_part made;
  std::map<int, std::vector<cell_element>> ghosts_of;  // by owner
  for (const auto& ghost : surrounding(cut, own, mesh.layers)) {
    made.ghosts.push_back(cut.locate(ghost));
    ghosts_of[made.ghosts.back().rank].push_back(ghost);
  }
  std::sort(made.ghosts.begin(), made.ghosts.end(), [](const location& a, const location& b) {
    return std::pair(a.rank, a.offset) < std::pair(b.rank, b.offset);
  });
  made.owned = cut.number_in(own, {.cell = own.high, .kind = 0});
  made.copies.resize(made.owned);
  // Steps lead both ways. So an element of another part that needs elements of this part is a ghost
  // here.
  for (const auto& [reader, needed] : ghosts_of)
    for (const auto& read : grow(cut, needed, mesh.layers, cut.box_of(reader)))
      if (cut_box::contains(own, cut.centroid(read))) ++made.copies[cut.number_in(own, read)];
  return made;
}

}  // namespace longshore::bench

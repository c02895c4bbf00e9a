// The class BoxLayout of Python: reads the boxes of a rank, and the domain.
#include "box_layouts.hpp"

#include "gil.hpp"
#include "per_dimension.hpp"
#include "python_number.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;

// A box as Python gives it, before the number of dimensions is known.
struct given_box {
  std::vector<std::int64_t> first, cells;
};

// The sum of an index and an extent fits int64, too.
std::int64_t index_of(nb::handle given, const char* what) {
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  return whole_number(given, what, -limit, limit);
}

std::vector<std::int64_t> indices_of(nb::handle given, const char* what) {
  std::vector<std::int64_t> indices;
  for (const nb::handle index : given) indices.push_back(index_of(index, what));
  return indices;
}

given_box box_from(nb::handle given, const char* what) {
  if (!is_sequence(given) || nb::len(given) != 2 || !is_sequence(given[0]) ||
      !is_sequence(given[1]))
    type_error(
        "{}: a box is a pair (first, cells) with an index and an extent for each dimension, "
        "such as ((0, 0), (4, 5)); got {}",
        what, nb::cast<std::string>(nb::repr(given)));
  given_box box{indices_of(given[0], what), indices_of(given[1], what)};
  if (box.first.size() != box.cells.size() || box.first.empty() || box.first.size() > 3)
    fail(errc::usage, "{}: a box with a first cell in {} dimensions, and extents in {}: 1, 2 or 3",
         what, box.first.size(), box.cells.size());
  return box;
}

std::vector<given_box> boxes_from(nb::handle given) {
  if (!is_sequence(given)) throw nb::type_error("boxes: a list of boxes (first, cells) is needed");
  std::vector<given_box> boxes;
  for (const nb::handle box : given) boxes.push_back(box_from(box, "boxes"));
  return boxes;
}

cell_box box_of_cpp(const given_box& given, std::size_t dimensions, const char* what) {
  if (given.first.size() != dimensions)
    fail(errc::usage, "{}: a box of {} dimensions, in a layout of {} dimensions", what,
         given.first.size(), dimensions);
  cell_box box;
  for (std::size_t d = 0; d < dimensions; ++d) {
    box.first[dimensions - 1 - d] = given.first[d];
    box.cells[dimensions - 1 - d] = given.cells[d];
  }
  return box;
}

glued_cells glued_from(nb::handle given, std::size_t dimensions) {
  if (!nb::isinstance<nb::dict>(given))
    throw nb::type_error("glued: a list of dicts with the keys beyond, axis, sign, offset");
  std::vector<std::int64_t> axis(dimensions), sign(dimensions, 1), offset(dimensions, 0);
  std::iota(axis.begin(), axis.end(), std::int64_t{0});
  const auto one_of_dimensions = [&](nb::handle number, const char* what) {
    return whole_number(number, what, 0, static_cast<std::int64_t>(dimensions) - 1);
  };
  glued_cells glued;
  bool has_cells = false;
  for (const auto [key, value] : nb::borrow<nb::dict>(given)) {
    const auto name = nb::cast<std::string>(nb::str(key));
    if (name == "beyond") {
      glued.beyond = box_of_cpp(box_from(value, "glued: beyond"), dimensions, "glued: beyond");
      has_cells = true;
    } else if (name == "axis") {
      axis = per_dimension(value, dimensions, "glued: axis", one_of_dimensions);
    } else if (name == "sign") {
      sign = per_dimension(value, dimensions, "glued: sign", index_of);
    } else if (name == "offset") {
      offset = per_dimension(value, dimensions, "glued: offset", index_of);
    } else {
      fail(errc::usage, "glued: '{}' is not one of the keys beyond, axis, sign, offset", name);
    }
  }
  if (!has_cells) fail(errc::usage, "glued: the key beyond, a box, is missing");
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t of_cpp = dimensions - 1 - d;
    if (sign[d] != 1 && sign[d] != -1)
      fail(errc::usage, "glued: a sign of {}: it is 1 or -1", sign[d]);
    glued.axis[of_cpp] = static_cast<int>(dimensions) - 1 - static_cast<int>(axis[d]);
    glued.sign[of_cpp] = static_cast<int>(sign[d]);
    glued.offset[of_cpp] = offset[d];
  }
  return glued;
}

box_domain domain_from(nb::handle domain, nb::handle periodic, nb::handle glued,
                       std::size_t dimensions) {
  box_domain found;
  const auto is_periodic = per_dimension(periodic, dimensions, "periodic", truth);
  for (std::size_t d = 0; d < dimensions; ++d) {
    found.periodic[dimensions - 1 - d] = is_periodic[d];
    if (is_periodic[d] && domain.is_none())
      fail(errc::usage, "periodic dimensions need the domain, a box (first, cells)");
  }
  if (!domain.is_none())
    found.domain = box_of_cpp(box_from(domain, "domain"), dimensions, "domain");
  if (!is_sequence(glued)) throw nb::type_error("glued: a list of dicts is needed");
  for (const nb::handle cells : glued) found.glued.push_back(glued_from(cells, dimensions));
  return found;
}

void make_layout(rank_layout* self, nb::handle team, nb::handle boxes, nb::handle domain,
                 nb::handle periodic, nb::handle glued, nb::handle owners) {
  const rank_team mine = team_or_world(team);
  auto& all_ranks = mine.ranks();
  const bool has_owners = !owners.is_none();
  std::vector<given_box> given;
  std::vector<int> ranks_of_boxes;
  std::size_t dimensions = 0;  // 0 if this rank does not know
  common_arguments same;
  same.add("owners", has_owners ? "given" : "none");
  read_on_all_ranks(all_ranks, "BoxLayout", same, [&] {
    given = boxes_from(boxes);
    if (!domain.is_none())
      dimensions = box_from(domain, "domain").first.size();
    else if (!given.empty())
      dimensions = given.front().first.size();
    if (!has_owners) return;
    if (!is_sequence(owners)) throw nb::type_error("owners: a list with the rank of each box");
    for (const nb::handle rank : owners) ranks_of_boxes.push_back(count_of(rank, "owners"));
  });
  {
    const release_gil unlocked;
    mine.owner->free_dropped();
    dimensions = static_cast<std::size_t>(
        std::max(all_ranks.allreduce_value<int>(static_cast<int>(dimensions), reduction::max), 1));
  }
  std::vector<cell_box> cells;
  box_domain whole;
  read_on_all_ranks(all_ranks, "BoxLayout", [&] {
    for (const given_box& box : given) cells.push_back(box_of_cpp(box, dimensions, "boxes"));
    whole = domain_from(domain, periodic, glued, dimensions);
  });
  std::shared_ptr<kept_value<box_layout>> kept;
  {
    const release_gil unlocked;
    kept = std::make_shared<kept_value<box_layout>>(
        has_owners ? box_layout(all_ranks, cells, ranks_of_boxes, whole)
                   : box_layout(all_ranks, cells, whole));
    mine.owner->keep(kept);
  }
  new (self) rank_layout{{mine.owner, std::move(kept)}, dimensions};
}

nb::tuple tuple_of(const std::array<std::int64_t, 3>& numbers, std::size_t dimensions) {
  nb::list list;
  for (std::size_t d = 0; d < dimensions; ++d) list.append(numbers[dimensions - 1 - d]);
  return nb::tuple(list);
}

nb::tuple tuple_of(std::span<const cell_box> boxes, std::size_t dimensions) {
  nb::list list;
  for (const cell_box& box : boxes)
    list.append(nb::make_tuple(tuple_of(box.first, dimensions), tuple_of(box.cells, dimensions)));
  return nb::tuple(list);
}

nb::tuple owners_of(const rank_layout& self) {
  const box_layout& layout = self.layout();
  nb::list owners;
  for (std::size_t box = 0; box < layout.boxes().size(); ++box) owners.append(layout.owner(box));
  return nb::tuple(owners);
}

std::string text_of(const rank_layout& self) {
  const box_layout& layout = self.layout();
  return fmt::format("<longshore.BoxLayout: {} boxes in {} dimensions, {} on rank {} of {}>",
                     layout.boxes().size(), self.dimensions, layout.mine().size(),
                     self.kept.owner().rank(), self.kept.owner().size());
}

#define BOX "tuple[tuple[int, ...], tuple[int, ...]]"
#define BOX_GIVEN "collections.abc.Sequence[collections.abc.Sequence[int]] | numpy.ndarray"

}  // namespace

const rank_layout& layout_of(nb::handle layout) {
  if (!nb::isinstance<rank_layout>(layout)) throw nb::type_error("layout: a BoxLayout is needed");
  return nb::cast<const rank_layout&>(layout);
}

void bind_box_layout(nb::module_& module) {
  nb::class_<rank_layout>(module, "BoxLayout",
                          R"(The boxes of all ranks: any number per rank, of any sizes.

Collective. A box is a pair (first, cells): the index of its first cell, and its extents, in 1 to 3
dimensions. The dimensions are those of arrays: the contiguous one comes last. Boxes do not overlap.
They are numbered in the order of the ranks. If the boxes of any rank are wrong, all ranks raise
UsageError.

boxes: the boxes of this rank, none or more.
domain: the box of the whole domain, which periodic dimensions need.
periodic: whether the domain is periodic, for all dimensions or for each dimension.
glued: cells outside of all boxes that are copies of cells elsewhere, with turned axes, such as the
    faces of a cubed sphere. A list of dicts: cell c of the box ``beyond`` is cell o, where
    ``o[axis[d]] = sign[d] * c[d] + offset[d]`` for each dimension d. Without a key, the axes are
    not turned, the signs are 1 and the offsets 0.
owners: the rank of each box, if ``boxes`` are those of all ranks, the same list on each rank.

>>> layout = longshore.BoxLayout(None, [((0, 0), (4, 3)), ((4, 1), (2, 2))])
>>> layout.mine
(((0, 0), (4, 3)), ((4, 1), (2, 2))))")
      .def("__init__", &make_layout, "team"_a.none(), "boxes"_a, "domain"_a = nb::none(),
           nb::kw_only(), "periodic"_a = false, "glued"_a = nb::tuple(), "owners"_a = nb::none(),
           nb::sig("def __init__(self, team: Team | None, "
                   "boxes: collections.abc.Sequence[" BOX_GIVEN "] | numpy.ndarray, "
                   "domain: " BOX_GIVEN " | None = None, *, "
                   "periodic: bool | collections.abc.Sequence[bool] = False, "
                   "glued: collections.abc.Sequence[dict[str, typing.Any]] = (), "
                   "owners: collections.abc.Sequence[int] | numpy.ndarray | None = None) -> None"),
           "Collective. The arguments are those of the class.")
      .def_prop_ro(
          "boxes",
          [](const rank_layout& self) { return tuple_of(self.layout().boxes(), self.dimensions); },
          nb::sig("def boxes(self) -> tuple[" BOX ", ...]"),
          "The boxes of all ranks, by their numbers.")
      .def_prop_ro(
          "mine",
          [](const rank_layout& self) { return tuple_of(self.layout().mine(), self.dimensions); },
          nb::sig("def mine(self) -> tuple[" BOX ", ...]"), "The boxes of this rank.")
      .def_prop_ro("owners", &owners_of, nb::sig("def owners(self) -> tuple[int, ...]"),
                   "The ranks of the boxes, by the numbers of the boxes.")
      .def("__repr__", [](const rank_layout& self) { return text_of(self); });
}

}  // namespace longshore::python

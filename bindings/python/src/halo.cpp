// The class Halo of Python: reads its arguments, makes or checks the arrays of the fields, and
// gives plans to halo_plans. Dimension d of Python is dimension (dimensions - 1 - d) of C++.
#include "module.hpp"

#include "arrays.hpp"
#include "gil.hpp"
#include "halo_plans.hpp"
#include "mpi4py_communicator.hpp"
#include "python_number.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"
#include "task_arguments.hpp"

#include <longshore/core/error.hpp>
#include <longshore/exchange/runtime_types.hpp>
#include <longshore/halo/cart_grid.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <limits>
#include <optional>
#include <string>

namespace longshore::python {
namespace {

using namespace nb::literals;
using shape_list = std::vector<std::size_t>;

/// The class Halo. The contiguous dimension comes last, as in NumPy. In C++ the contiguous
/// dimension comes first.
struct rank_halo {
  collective_handle<halo_plans> plans;
  nb::tuple fields = {};  // arrays, in the order of the fields of the plans
  shape_list cells = {}, local_cells = {}, offset = {};
  std::vector<int> grid = {}, coordinates = {};
  std::vector<int> low = {}, high = {};
  std::vector<std::string> types = {};
};

// Whether the value is a list, a tuple or an array of one dimension, but no text and no scalar of
// NumPy.
bool is_sequence(nb::handle value) {
  return PySequence_Check(value.ptr()) != 0 && PyUnicode_Check(value.ptr()) == 0 &&
         plain_number(value).is(value);
}

int count_of(nb::handle given, const char* what) {
  return static_cast<int>(whole_number(given, what, 0, std::numeric_limits<int>::max()));
}

shape_list shape_of(nb::handle cells) {
  std::vector<std::int64_t> shape;
  if (is_sequence(cells))
    for (const nb::handle extent : cells) shape.push_back(whole_number(extent, "cells"));
  else
    shape.push_back(whole_number(cells, "cells"));
  if (shape.empty() || shape.size() > 3)
    fail(errc::usage, "cells in {} dimensions: 1, 2 or 3", shape.size());
  for (const auto extent : shape)
    if (extent < 1)
      fail(errc::usage, "cells ({}): each at least 1", fmt::format("{}", fmt::join(shape, ", ")));
  return {shape.begin(), shape.end()};
}

// Reads one value for all dimensions, or a value for each dimension, with `read(value, what)`.
template <class Read>
auto per_dimension(nb::handle given, std::size_t dimensions, const char* what, const Read& read) {
  std::vector<decltype(read(given, what))> values;
  if (!is_sequence(given)) {
    values.assign(dimensions, read(given, what));
    return values;
  }
  if (nb::len(given) != dimensions)
    fail(errc::usage, "{}: {} values for {} dimensions", what, nb::len(given), dimensions);
  for (const nb::handle value : given) values.push_back(read(value, what));
  return values;
}

void read_widths(rank_halo& halo, nb::handle width) {
  const std::size_t dimensions = halo.cells.size();
  std::vector<nb::object> sides(dimensions, nb::borrow(width));
  if (is_sequence(width)) {
    if (nb::len(width) != dimensions)
      fail(errc::usage,
           "width: {} values for {} dimensions; give one for all, one for each, or (low, high) for "
           "each",
           nb::len(width), dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) sides[d] = width[d];
  }
  for (const nb::object& side : sides) {
    const bool pair = is_sequence(side);
    if (pair && nb::len(side) != 2)
      fail(errc::usage, "width: {} values for one dimension; give (low, high)", nb::len(side));
    halo.low.push_back(count_of(pair ? nb::object(side[0]) : side, "width"));
    halo.high.push_back(count_of(pair ? nb::object(side[1]) : side, "width"));
  }
}

shape_list shape_with_halo(const rank_halo& halo) {
  shape_list shape;
  for (std::size_t d = 0; d < halo.cells.size(); ++d)
    shape.push_back(halo.local_cells[d] + static_cast<std::size_t>(halo.low[d] + halo.high[d]));
  return shape;
}

field_memory field_in(const rank_halo& halo, std::byte* data, element type,
                      const std::vector<std::ptrdiff_t>& strides) {
  field_memory field;
  field.first = data;
  field.element_bytes = bytes_of(type);
  static_assert(static_cast<int>(element::complex128) ==
                static_cast<int>(detail::number_type::complex128));
  field.type = &detail::element_type_of_number(static_cast<detail::number_type>(type));
  field.extents = {1, 1, 1};
  field.strides_bytes.fill(static_cast<std::ptrdiff_t>(field.element_bytes));
  const std::size_t dimensions = halo.cells.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t axis = dimensions - 1 - d;
    field.extents[axis] = halo.local_cells[d];
    field.strides_bytes[axis] = strides[d];
    field.widths.low[axis] = halo.low[d];
    field.widths.high[axis] = halo.high[d];
    field.first += halo.low[d] * strides[d];
  }
  return field;
}

// Makes a field in memory that neighbours on the node can read.
nb::object add_new_field(const rank_halo& halo, const team& ranks, element type,
                         std::vector<field_memory>& fields) {
  const shape_list shape = shape_with_halo(halo);
  std::size_t items = 1;
  for (const std::size_t extent : shape)
    if (__builtin_mul_overflow(items, extent, &items) || items > PTRDIFF_MAX / bytes_of(type))
      fail(errc::out_of_memory,
           "a field of {} cells with its halo is larger than the address space",
           fmt::format("{}", fmt::join(shape, " x ")));
  auto memory = std::make_unique<shareable_memory>(ranks, items * bytes_of(type));
  std::vector<std::ptrdiff_t> strides(shape.size());
  auto stride = static_cast<std::ptrdiff_t>(bytes_of(type));
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  field_memory field = field_in(halo, memory->data(), type, strides);
  field.set_memory(*memory);
  fields.push_back(field);
  std::byte* const data = memory->data();
  return array_over(data, shape, type, owner_of(std::move(memory)));
}

nb::object add_user_field(const rank_halo& halo, nb::handle array,
                          std::vector<field_memory>& fields, std::string& type) {
  const auto memory = array_for_writing(array, "fields");
  const shape_list shape = shape_with_halo(halo);
  if (memory.shape != shape)
    fail(errc::usage,
         "fields: an array of shape ({}); the block of rank {} with its halo has shape ({})",
         fmt::format("{}", fmt::join(memory.shape, ", ")), halo.plans.owner().rank(),
         fmt::format("{}", fmt::join(shape, ", ")));
  type = name_of(memory.type);
  fields.push_back(field_in(halo, memory.data, memory.type, memory.strides_bytes));
  return nb::borrow(array);
}

std::vector<element> types_of(nb::handle dtype, std::size_t count) {
  if (!nb::isinstance<nb::list>(dtype) && !nb::isinstance<nb::tuple>(dtype))
    return std::vector<element>(count, element_of(dtype));
  if (nb::len(dtype) != count)
    fail(errc::usage, "dtype: {} types for {} fields", nb::len(dtype), count);
  std::vector<element> types;
  for (const nb::handle type : dtype) types.push_back(element_of(type));
  return types;
}

void read_fields(rank_halo& halo, nb::handle given, nb::handle dtype, const team& ranks,
                 std::vector<field_memory>& fields) {
  nb::list arrays;
  if (const nb::object number = plain_number(given); PyLong_Check(number.ptr())) {
    const std::int64_t count = whole_number(number, "fields");
    if (count < 1 || count > halo_plans::max_fields)
      fail(errc::usage, "{} fields: 1 to {}", count, halo_plans::max_fields);
    for (const element type : types_of(dtype, static_cast<std::size_t>(count))) {
      arrays.append(add_new_field(halo, ranks, type, fields));
      halo.types.emplace_back(name_of(type));
    }
  } else {
    const bool several = nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given);
    const nb::object list = several ? nb::borrow(given) : nb::object(nb::make_tuple(given));
    if (nb::len(list) < 1 || nb::len(list) > halo_plans::max_fields)
      fail(errc::usage, "{} fields: 1 to {}", nb::len(list), halo_plans::max_fields);
    for (const nb::handle array : list)
      arrays.append(add_user_field(halo, array, fields, halo.types.emplace_back()));
  }
  halo.fields = nb::tuple(arrays);
}

// Sets the position of this rank's block in the whole grid, which is cut into equal blocks.
void set_position(rank_halo& halo, const rank_grid& grid) {
  const std::size_t dimensions = halo.cells.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t axis = dimensions - 1 - d;
    halo.grid.push_back(grid.shape()[axis]);
    halo.coordinates.push_back(grid.coordinates()[axis]);
    const index_range share = static_share(halo.cells[d], halo.coordinates[d], halo.grid[d]);
    halo.local_cells.push_back(share.size());
    halo.offset.push_back(share.begin);
  }
}

// Collective. Like set_position(), for blocks that the program has chosen. Takes 24 bytes per rank.
void set_position_of_blocks(rank_halo& halo, const rank_grid& grid, const shape_list& block) {
  const std::size_t dimensions = block.size();
  std::array<std::size_t, 3> extents{1, 1, 1};
  for (std::size_t d = 0; d < dimensions; ++d) extents[dimensions - 1 - d] = block[d];
  std::vector<std::array<std::size_t, 3>> all;
  {
    const release_gil unlocked;
    all = grid.ranks().allgather_value(extents);
  }
  halo.local_cells = block;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t axis = dimensions - 1 - d;
    halo.grid.push_back(grid.shape()[axis]);
    halo.coordinates.push_back(grid.coordinates()[axis]);
    std::size_t end = 0;
    auto at = grid.coordinates();
    for (at[axis] = 0; at[axis] < grid.shape()[axis]; ++at[axis]) {
      if (at[axis] == grid.coordinates()[axis]) halo.offset.push_back(end);
      end += all[static_cast<std::size_t>(grid.rank_at(at))][axis];
    }
    halo.cells[d] = end;
  }
}

// The arguments that choose the grid of ranks.
struct grid_arguments {
  nb::handle periodic, ranks, cart;
  std::string_view placement, order;
};

// The grid of a Cartesian communicator. Direction 0 of the communicator is dimension 0 of Python,
// which is the last dimension of C++.
rank_grid grid_of_cart(team& ranks, const grid_arguments& given, std::size_t dimensions) {
  if (!given.periodic.is_none() || !given.ranks.is_none() || given.placement != "linear")
    fail(errc::usage,
         "cart together with ranks, periodic or placement: the communicator decides all of them");
  const cart_order order = from_name<cart_order>(given.order);
  const mpi4py_communicator cart = communicator_of(given.cart, "Halo(cart=...)");
  rank_grid grid =
      detail::cart_grid(ranks, cart.address, cart.headers,
                        order == cart_order::same ? cart_order::reversed : cart_order::same);
  if (grid.dimensions() != static_cast<int>(dimensions))
    fail(errc::usage, "cells of {} dimensions, on a Cartesian communicator of {} dimensions",
         dimensions, grid.dimensions());
  return grid;
}

grid_options grid_options_from(const grid_arguments& given, const shape_list& cells,
                               bool cells_are_of_all) {
  const std::size_t dimensions = cells.size();
  if (given.order != "same")
    fail(errc::usage, "cart_order '{}' without cart, a Cartesian communicator", given.order);
  grid_options grid;
  grid.dimensions = static_cast<int>(dimensions);
  grid.placement = from_name<grid_placement>(given.placement);
  const auto is_periodic = given.periodic.is_none()
                               ? std::vector<bool>(dimensions, true)
                               : per_dimension(given.periodic, dimensions, "periodic", truth);
  const auto ranks_along = given.ranks.is_none()
                               ? std::vector<int>(dimensions)
                               : per_dimension(given.ranks, dimensions, "ranks", count_of);
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (cells_are_of_all) grid.cells[dimensions - 1 - d] = cells[d];
    grid.periodic[dimensions - 1 - d] = is_periodic[d];
    grid.ranks[dimensions - 1 - d] = ranks_along[d];
  }
  return grid;
}

// Collective.
rank_grid make_grid(team& ranks, const grid_options& options) {
  const release_gil unlocked;
  return rank_grid(ranks, options);
}

void make_halo(rank_halo* self, nb::handle team, nb::handle cells, nb::handle width,
               nb::handle fields, nb::handle dtype, nb::handle periodic, nb::handle ranks,
               std::string_view algorithm, std::string_view mode, std::string_view reach,
               std::string_view placement, nb::handle local_cells, nb::handle cart,
               std::string_view cart_order, nb::handle tasks_given, std::optional<int> task_count) {
  const rank_team mine = team_or_world(team);
  auto& all_ranks = mine.ranks();
  const bool is_block = cells.is_none();
  shape_list shape;
  rank_halo halo{.plans = {mine.owner, nullptr}};
  halo_options options;
  task_options workers;
  {
    const release_gil unlocked;
    mine.owner->free_dropped();
  }
  const bool has_cart = !cart.is_none();
  const grid_arguments given{periodic, ranks, cart, placement, cart_order};
  grid_options grid;
  common_arguments same;
  same.add("cells", is_block ? "of each block" : "of the whole grid")
      .add("cart", has_cart ? "yes" : "no");
  read_on_all_ranks(all_ranks, "Halo", same, [&] {
    if (is_block == local_cells.is_none())
      throw nb::type_error(
          "Halo needs either cells, the shape of the whole grid, or local_cells, the shape of the "
          "block of this rank");
    halo.cells = shape = shape_of(is_block ? local_cells : cells);
    if (!has_cart) grid = grid_options_from(given, shape, !is_block);
    read_widths(halo, width);
    options.algorithm = from_name<halo_algorithm>(algorithm);
    options.mode = from_name<halo_mode>(mode);
    options.reach = from_name<halo_reach>(reach);
    workers = task_options_from(all_ranks, tasks_given, task_count);
  });
  auto plans = std::make_shared<halo_plans>(
      has_cart ? grid_of_cart(all_ranks, given, shape.size()) : make_grid(all_ranks, grid), options,
      workers);
  if (is_block)
    set_position_of_blocks(halo, plans->grid(), shape);
  else
    set_position(halo, plans->grid());
  std::vector<field_memory> memory;
  read_on_all_ranks(all_ranks, "Halo",
                    [&] { read_fields(halo, fields, dtype, all_ranks, memory); });
  std::vector<python_reference> keep;
  for (const nb::handle array : halo.fields) keep.emplace_back(nb::borrow(array));
  {
    const release_gil unlocked;
    plans->make_plan(std::move(memory), std::move(keep));
  }
  mine.owner->keep(plans);
  halo.plans.hold(std::move(plans));
  new (self) rank_halo(std::move(halo));
}

// The set of the given fields, which are found by identity, not by equality.
std::uint64_t set_of(const rank_halo& self, const nb::args& fields) {
  if (fields.size() == 0) return halo_plans::all_fields;
  std::uint64_t set = 0;
  for (const nb::handle field : fields) {
    std::size_t i = 0;
    while (i < self.fields.size() && self.fields[i].ptr() != field.ptr()) ++i;
    if (i == self.fields.size())
      fail(errc::usage,
           "exchange of an array that is not one of the {} fields of the halo (halo.fields)",
           self.fields.size());
    set |= std::uint64_t{1} << i;
  }
  return set;
}

halo_plans& plans_of(const rank_halo& self) {
  (void)self.plans.owner().ranks();  // throws if the team cannot be used here
  return *self.plans.object();
}

void start(const rank_halo& self, const nb::args& fields) {
  halo_plans& plans = plans_of(self);
  const std::uint64_t set = set_of(self, fields);
  const release_gil unlocked;
  plans.start(set);
}

int neighbour(const rank_halo& self, const std::vector<int>& step) {
  const halo_plans& plans = plans_of(self);
  const std::size_t dimensions = self.cells.size();
  halo_direction direction{};
  if (step.size() != dimensions)
    fail(errc::usage, "neighbour: {} steps for {} dimensions", step.size(), dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (step[d] < -1 || step[d] > 1)
      fail(errc::usage, "neighbour: a step of {}: it is -1, 0 or 1", step[d]);
    direction.step[dimensions - 1 - d] = static_cast<decltype(direction.step)::value_type>(step[d]);
  }
  return plans.grid().neighbour(direction);
}

nb::tuple box(const shape_list& begin, const shape_list& end) {
  nb::list slices;
  for (std::size_t d = 0; d < begin.size(); ++d)
    slices.append(nb::slice(nb::int_(begin[d]), nb::int_(end[d]), nb::none()));
  return nb::tuple(slices);
}

shape_list interior_begin(const rank_halo& self) { return {self.low.begin(), self.low.end()}; }
shape_list interior_end(const rank_halo& self) {
  shape_list end = interior_begin(self);
  for (std::size_t d = 0; d < end.size(); ++d) end[d] += self.local_cells[d];
  return end;
}

// The cells that need no cell of the halo: all neighbours within the width belong to this rank.
std::pair<shape_list, shape_list> inner_box(const rank_halo& self) {
  shape_list begin = interior_begin(self), end = interior_end(self);
  for (std::size_t d = 0; d < begin.size(); ++d) {
    const std::size_t first = std::min(begin[d] + static_cast<std::size_t>(self.low[d]), end[d]);
    const auto high = static_cast<std::size_t>(self.high[d]);
    end[d] = std::max(first, end[d] - std::min(high, end[d]));
    begin[d] = first;
  }
  return {begin, end};
}

// The cells of the interior outside of inner_box, in boxes that do not overlap.
nb::list shell(const rank_halo& self) {
  nb::list boxes;
  const auto [inner_begin, inner_end] = inner_box(self);
  shape_list begin = interior_begin(self), end = interior_end(self);
  for (std::size_t d = 0; d < begin.size(); ++d) {
    const std::size_t first = begin[d], last = end[d];
    if (first < inner_begin[d]) {
      end[d] = inner_begin[d];
      boxes.append(box(begin, end));
    }
    if (inner_end[d] < last) {
      begin[d] = inner_end[d], end[d] = last;
      boxes.append(box(begin, end));
    }
    begin[d] = inner_begin[d], end[d] = inner_end[d];
  }
  return boxes;
}

nb::tuple owned(const rank_halo& self) {
  shape_list end = self.offset;
  for (std::size_t d = 0; d < end.size(); ++d) end[d] += self.local_cells[d];
  return box(self.offset, end);
}

template <class Number>
nb::tuple tuple_of(const std::vector<Number>& numbers) {
  nb::list list;
  for (const Number number : numbers) list.append(number);
  return nb::tuple(list);
}

std::string text_of(const rank_halo& self) {
  return fmt::format(
      "<longshore.Halo: {} cells on {} ranks, {} with halo {} on rank {}, fields {}, algorithm {}>",
      fmt::join(self.cells, " x "), fmt::join(self.grid, " x "), fmt::join(self.local_cells, " x "),
      self.low == self.high && std::equal(self.low.begin() + 1, self.low.end(), self.low.begin())
          ? fmt::format("{}", self.low[0])
          : fmt::format("({}), ({})", fmt::join(self.low, ", "), fmt::join(self.high, ", ")),
      self.plans.owner().rank(), fmt::join(self.types, ", "), name_of(self.plans->algorithm()));
}

}  // namespace

void bind_halo(nb::module_& module) {
  nb::class_<rank_halo>(module, "Halo",
                        R"(Fields on a distributed grid of cells, and the exchange of their halos.

Collective. Each rank owns a block of the grid. The plan is made once and used often.

cells: the shape of the whole grid in 1 to 3 dimensions. The contiguous dimension comes last.
    Longshore cuts the grid into equal blocks.
local_cells: instead of cells, the shape of this rank's block. Blocks that are neighbours along one
    dimension have equal extents along the others.
width: the width of the halo: a number, a number for each dimension, or a pair (low, high) for each
    dimension.
fields: the number of fields to make, 1 to 64, in memory that neighbours on the node read directly.
    Or arrays of the program, which hold the block of this rank with its halo. Arrays may have any
    strides. The halo keeps a reference to each array.
dtype: the type of the cells, or a list with a type for each field. Complex types are allowed.
periodic: whether the grid is periodic, for all dimensions or for each dimension (default: True).
ranks: the number of ranks along each dimension; if 0, Longshore chooses.
cart: a Cartesian communicator of mpi4py with the ranks of the team in the same order, such as that
    of Team(cart). It decides the grid of ranks, the periods and the neighbours.
cart_order: 'same': direction d of cart is dimension d of the arrays; 'reversed': direction 0 is the
    last dimension.
algorithm, mode, reach, placement: docs/reference/halo.md lists them, with messages and memory.
tasks, task_count: the tasking layer that copies large messages ('serial', 'threads', 'openmp',
    'tbb'), and its number of tasks. Without a number: the rank's share of the cores.

Raises UsageError, OutOfMemoryError, or TypeError for unsuitable arrays.

>>> halo = longshore.Halo(None, cells=4, width=1)
>>> u, = halo.fields
>>> u[halo.interior] = [1, 2, 3, 4]
>>> halo.exchange()
>>> u
array([4., 1., 2., 3., 4., 1.])
)")
      .def("__init__", &make_halo, "team"_a.none(), "cells"_a = nb::none(), "width"_a = 1,
           "fields"_a = 1, "dtype"_a = "float64", "periodic"_a = nb::none(), nb::kw_only(),
           "ranks"_a = nb::none(), "algorithm"_a = "standard", "mode"_a = "direct",
           "reach"_a = "corners", "placement"_a = "linear", "local_cells"_a = nb::none(),
           "cart"_a = nb::none(), "cart_order"_a = "same", "tasks"_a = nb::none(),
           "task_count"_a = nb::none(),
           nb::sig("def __init__(self, team: Team | None, cells: int | "
                   "collections.abc.Sequence[int] | None "
                   "= None, "
                   "width: int | collections.abc.Sequence[int | tuple[int, int]] = 1, "
                   "fields: int | numpy.ndarray | collections.abc.Sequence[numpy.ndarray] = 1, "
                   "dtype: numpy.typing.DTypeLike | list[numpy.typing.DTypeLike] = 'float64', "
                   "periodic: bool | collections.abc.Sequence[bool] | None = None, *, ranks: "
                   "collections.abc.Sequence[int] | None = None, "
                   "algorithm: str = 'standard', mode: str = 'direct', reach: str = 'corners', "
                   "placement: str = 'linear', "
                   "local_cells: int | collections.abc.Sequence[int] | None = None, "
                   "cart: typing.Any = None, cart_order: str = 'same', tasks: str | None = None, "
                   "task_count: int | None = None) -> None"),
           "Collective. The arguments are those of the class.")
      .def(
          "exchange",
          [](const rank_halo& self) {
            halo_plans& plans = plans_of(self);
            const release_gil unlocked;
            plans.start(halo_plans::all_fields);
            plans.wait();
          },
          nb::sig("def exchange(self) -> None"), "Fills the halos of all fields.")
      .def(
          "exchange",
          [](const rank_halo& self, const nb::args& fields) {
            halo_plans& plans = plans_of(self);
            const std::uint64_t set = set_of(self, fields);
            const release_gil unlocked;
            plans.start(set);
            plans.wait();
          },
          nb::sig("def exchange(self, *fields: numpy.ndarray) -> None"),
          "Fills the halos of the given fields, or of all: start() and wait(). All ranks give the "
          "same fields.")
      .def("start", &start, nb::sig("def start(self, *fields: numpy.ndarray) -> None"),
           R"(Begins an exchange of the given fields, or of all.

Until the exchange is complete, do not write cells within a width of a face, and do not read the
halo. The cells of ``inner`` may be computed meanwhile. All ranks give the same fields.)")
      .def(
          "test",
          [](const rank_halo& self) {
            halo_plans& plans = plans_of(self);
            const release_gil unlocked;
            return plans.test();
          },
          "Makes progress on the exchange. Returns True when it is complete.")
      .def(
          "wait",
          [](const rank_halo& self) {
            halo_plans& plans = plans_of(self);
            const release_gil unlocked;
            plans.wait();
          },
          "Completes the exchange: returns when the halo of this rank is filled.")
      .def_prop_ro(
          "fields", [](const rank_halo& self) { return self.fields; },
          nb::sig("def fields(self) -> tuple[numpy.ndarray, ...]"),
          "The arrays of the fields, with their halos.")
      .def_prop_ro(
          "cells", [](const rank_halo& self) { return tuple_of(self.cells); },
          nb::sig("def cells(self) -> tuple[int, ...]"), "The shape of the whole grid.")
      .def_prop_ro(
          "local_cells", [](const rank_halo& self) { return tuple_of(self.local_cells); },
          nb::sig("def local_cells(self) -> tuple[int, ...]"),
          "The shape of the block of this rank, without its halo.")
      .def_prop_ro("owned", &owned, nb::sig("def owned(self) -> tuple[slice, ...]"),
                   "The slices of this rank's block in the whole grid.")
      .def_prop_ro(
          "interior",
          [](const rank_halo& self) { return box(interior_begin(self), interior_end(self)); },
          nb::sig("def interior(self) -> tuple[slice, ...]"),
          "The slices of the block in a field with its halo.")
      .def_prop_ro(
          "inner",
          [](const rank_halo& self) {
            const auto [begin, end] = inner_box(self);
            return box(begin, end);
          },
          nb::sig("def inner(self) -> tuple[slice, ...]"),
          "The slices of the cells that need no halo. Compute them during an exchange.")
      .def_prop_ro("shell", &shell, nb::sig("def shell(self) -> list[tuple[slice, ...]]"),
                   "The interior outside of ``inner``, in boxes that do not overlap. Compute these "
                   "cells after an "
                   "exchange.")
      .def_prop_ro(
          "grid", [](const rank_halo& self) { return tuple_of(self.grid); },
          nb::sig("def grid(self) -> tuple[int, ...]"), "The number of ranks along each dimension.")
      .def_prop_ro(
          "coordinates", [](const rank_halo& self) { return tuple_of(self.coordinates); },
          nb::sig("def coordinates(self) -> tuple[int, ...]"),
          "The coordinates of this rank in the grid of ranks.")
      .def("neighbour", &neighbour, "step"_a,
           nb::sig("def neighbour(self, step: collections.abc.Sequence[int]) -> int"),
           "The rank at a step of -1, 0 or 1 along each dimension; -1 beyond a border.")
      .def_prop_ro(
          "algorithm",
          [](const rank_halo& self) { return std::string(name_of(self.plans->algorithm())); },
          "The algorithm; for 'auto', the algorithm that was chosen.")
      .def("__repr__", &text_of);
}

}  // namespace longshore::python

// The class Halo of Python: reads its arguments, and starts the operations of its plan. Dimension d
// of Python is dimension (dimensions - 1 - d) of C++.
#include "module.hpp"

#include "gil.hpp"
#include "halo_plans.hpp"
#include "mpi4py_communicator.hpp"
#include "operations.hpp"
#include "parts.hpp"
#include "per_dimension.hpp"
#include "plan_methods.hpp"
#include "python_number.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"
#include "task_arguments.hpp"

#include <longshore/core/error.hpp>
#include <longshore/halo/cart_grid.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace longshore::python {
namespace {

using namespace nb::literals;

/// The class Halo. The contiguous dimension comes last, as in NumPy. In C++ the contiguous
/// dimension comes first.
struct rank_halo {
  collective_handle<halo_plans> plans;
  std::vector<cell_field> fields = {};  // in the order of the fields of the plans
  nb::tuple arrays = {};
  shape_list cells = {}, local_cells = {}, offset = {};
  std::vector<int> grid = {}, coordinates = {};

  [[nodiscard]] halo_plans& plan() const {
    (void)plans.owner().ranks();  // throws if the team cannot be used here
    return *plans.object();
  }
};

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

// Makes the array of a field, or checks the array of the program.
field_memory add_memory(cell_field& field, const shape_list& cells, const team& ranks) {
  if (field.arrays.is_valid())
    return memory_of(field.arrays, field, cells, fmt::format("the block of rank {}", ranks.rank()));
  field_block block = new_blocks(field, {&cells, 1}, ranks).front();
  field.arrays = std::move(block.array);
  return block.memory;
}

void make_halo(rank_halo* self, nb::handle team, nb::handle cells, nb::handle width,
               nb::handle fields, nb::handle dtype, nb::handle periodic, nb::handle ranks,
               std::string_view algorithm, std::string_view mode, std::string_view reach,
               std::string_view placement, nb::handle local_cells, nb::handle cart,
               std::string_view cart_order, nb::handle tasks_given, std::optional<int> task_count,
               nb::handle shared) {
  const rank_team mine = team_or_world(team);
  auto& all_ranks = mine.ranks();
  const bool is_block = cells.is_none();
  shape_list shape;
  rank_halo halo{.plans = {mine.owner, nullptr}};
  halo_options options;
  task_options workers;
  free_dropped(*mine.owner);
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
    halo.fields = cell_fields_from(fields, dtype, width, shared, shape.size());
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
  read_on_all_ranks(all_ranks, "Halo", [&] {
    for (cell_field& field : halo.fields)
      memory.push_back(add_memory(field, halo.local_cells, all_ranks));
  });
  std::vector<python_reference> keep;
  nb::list arrays;
  for (const cell_field& field : halo.fields) {
    arrays.append(field.arrays);
    keep.emplace_back(field.arrays);
  }
  halo.arrays = nb::tuple(arrays);
  {
    const release_gil unlocked;
    plans->make_plan(memory, std::move(keep));
  }
  mine.owner->keep(plans);
  halo.plans.hold(std::move(plans));
  new (self) rank_halo(std::move(halo));
}

void start(const rank_halo& self, const nb::args& arrays, nb::handle fields, nb::handle width,
           nb::handle stream) {
  halo_plans& plans = self.plan();
  const exchange_part part = part_from(self.fields, arrays, fields, width);
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plans.start(halo_operation::exchange, {}, part, on);
}

template <halo_operation Operation>
void start_combining(const rank_halo& self, nb::handle op, nb::handle fields, nb::handle width,
                     nb::handle stream) {
  halo_plans& plans = self.plan();
  const exchange_part part = part_from(self.fields, nb::tuple(), fields, width);
  const auto ops = ops_from(op, contents_of(self.fields, part), plans.errors());
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plans.start(Operation, ops, part, on);
}

int neighbour(const rank_halo& self, const std::vector<int>& step) {
  const halo_plans& plans = self.plan();
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

struct cell_box {
  shape_list begin, end;
};

nb::tuple slices_of(const cell_box& box) {
  const auto& [begin, end] = box;
  nb::list slices;
  for (std::size_t d = 0; d < begin.size(); ++d)
    slices.append(nb::slice(nb::int_(begin[d]), nb::int_(end[d]), nb::none()));
  return nb::tuple(slices);
}

cell_box interior_box(const rank_halo& self, const field_layers& layers) {
  cell_box interior{{layers.low.begin(), layers.low.end()}, layers.interior(self.local_cells)};
  for (std::size_t d = 0; d < interior.end.size(); ++d) interior.end[d] += interior.begin[d];
  return interior;
}

// The cells that need no cell of the halo or of a shared layer: all neighbours within the width
// belong to this block alone.
cell_box inner_box(const rank_halo& self, const field_layers& layers) {
  auto [begin, end] = interior_box(self, layers);
  for (std::size_t d = 0; d < begin.size(); ++d) {
    const auto low = static_cast<std::size_t>(layers.low[d] + layers.shared[d]);
    const auto high = static_cast<std::size_t>(layers.high[d] + layers.shared[d]);
    const std::size_t first = std::min(begin[d] + low, end[d]);
    end[d] = std::max(first, end[d] - std::min(high, end[d]));
    begin[d] = first;
  }
  return {begin, end};
}

nb::tuple interior(const rank_halo& self, const field_layers& layers) {
  return slices_of(interior_box(self, layers));
}

nb::tuple inner(const rank_halo& self, const field_layers& layers) {
  return slices_of(inner_box(self, layers));
}

// The cells of the interior outside of inner_box, in boxes that do not overlap.
nb::list shell(const rank_halo& self, const field_layers& layers) {
  nb::list boxes;
  const auto [inner_begin, inner_end] = inner_box(self, layers);
  auto [begin, end] = interior_box(self, layers);
  for (std::size_t d = 0; d < begin.size(); ++d) {
    const std::size_t first = begin[d], last = end[d];
    if (first < inner_begin[d]) {
      end[d] = inner_begin[d];
      boxes.append(slices_of({begin, end}));
    }
    if (inner_end[d] < last) {
      begin[d] = inner_end[d], end[d] = last;
      boxes.append(slices_of({begin, end}));
    }
    begin[d] = inner_begin[d], end[d] = inner_end[d];
  }
  return boxes;
}

// The result of Find, one of the three functions above, for one field.
template <auto Find>
auto of_field(const rank_halo& self, nb::handle field) {
  return Find(self, self.fields[checked_index_of(self.fields, field)].layers);
}
// The same for all fields. `what` names the property.
template <auto Find>
auto of_all_fields(const char* what) {
  return [what](const rank_halo& self) { return Find(self, layers_of_all(self.fields, what)); };
}

nb::tuple owned(const rank_halo& self) {
  shape_list end = self.offset;
  for (std::size_t d = 0; d < end.size(); ++d) end[d] += self.local_cells[d];
  return slices_of({self.offset, end});
}

template <class Number>
nb::tuple tuple_of(const std::vector<Number>& numbers) {
  nb::list list;
  for (const Number number : numbers) list.append(number);
  return nb::tuple(list);
}

std::string text_of(const rank_halo& self) {
  const bool is_same = have_same_layers(self.fields);
  return fmt::format(
      "<longshore.Halo: {} cells on {} ranks, {}{} on rank {}, fields {}, algorithm {}>",
      fmt::join(self.cells, " x "), fmt::join(self.grid, " x "), fmt::join(self.local_cells, " x "),
      is_same ? fmt::format(" with {}", text_of(self.fields.front().layers)) : "",
      self.plans.owner().rank(), text_of(self.fields), name_of(self.plans->algorithm()));
}

// The types of arguments, in signatures.
#define FIELD_OF_CALL "str | int | numpy.ndarray"
#define FIELDS_OF_CALL FIELD_OF_CALL " | collections.abc.Sequence[" FIELD_OF_CALL "] | None"

}  // namespace

void bind_halo(nb::module_& module) {
  nb::class_<rank_halo> type(
      module, "Halo",
      R"(Fields on a distributed grid of cells, and the exchange of their halos.

Collective. Each rank owns a block of the grid. The plan is made once and used often.

cells: the shape of the whole grid in 1 to 3 dimensions. The contiguous dimension comes last.
    Longshore cuts the grid into equal blocks.
local_cells: instead of cells, the shape of this rank's block. Blocks that are neighbours along one
    dimension have equal extents along the others.
width: the width of the halo: a number, a number for each dimension, or a pair (low, high) for each
    dimension. Or a dict with the widths of fields, by their names or numbers.
fields: the number of fields to make, in memory that neighbours on the node read directly. Or arrays
    of the program, which hold the block of this rank with its halo. Arrays may have any strides.
    They may lie in device memory (``__cuda_array_interface__``, such as arrays of CuPy). The halo
    keeps a reference to each array. Or a dict, which gives names to the fields: a value is an
    array, or the type of a field to make.
dtype: the type of the cells, or a list with a type for each field. Complex types are allowed.
periodic: whether the grid is periodic, for all dimensions or for each dimension (default: True).
ranks: the number of ranks along each dimension; if 0, Longshore chooses.
cart: a Cartesian communicator of mpi4py with the ranks of the team in the same order, such as that
    of Team(cart). It decides the grid of ranks, the periods and the neighbours.
cart_order: 'same': direction d of cart is dimension d of the arrays; 'reversed': direction 0 is the
    last dimension.
shared: the layers of cells that a block shares with the next block: 0 for a field of cells, 1 for a
    field of vertices, or a number for each dimension. Or a dict with the layers of fields, by their
    names or numbers. The interior of a field is the block and the shared layers. Of two blocks that
    share a layer, the block on the low side owns it.
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
)");
  type.def("__init__", &make_halo, "team"_a.none(), "cells"_a = nb::none(), "width"_a = 1,
           "fields"_a = 1, "dtype"_a = "float64", "periodic"_a = nb::none(), nb::kw_only(),
           "ranks"_a = nb::none(), "algorithm"_a = "standard", "mode"_a = "direct",
           "reach"_a = "corners", "placement"_a = "linear", "local_cells"_a = nb::none(),
           "cart"_a = nb::none(), "cart_order"_a = "same", "tasks"_a = nb::none(),
           "task_count"_a = nb::none(), "shared"_a = 0,
           nb::sig("def __init__(self, team: Team | None, cells: int | "
                   "collections.abc.Sequence[int] | None "
                   "= None, "
                   "width: int | collections.abc.Sequence[int | tuple[int, int]] | "
                   "dict[typing.Any, typing.Any] = 1, "
                   "fields: int | numpy.ndarray | collections.abc.Sequence[numpy.ndarray] | "
                   "dict[str, typing.Any] = 1, "
                   "dtype: numpy.typing.DTypeLike | list[numpy.typing.DTypeLike] = 'float64', "
                   "periodic: bool | collections.abc.Sequence[bool] | None = None, *, ranks: "
                   "collections.abc.Sequence[int] | None = None, "
                   "algorithm: str = 'standard', mode: str = 'direct', reach: str = 'corners', "
                   "placement: str = 'linear', "
                   "local_cells: int | collections.abc.Sequence[int] | None = None, "
                   "cart: typing.Any = None, cart_order: str = 'same', tasks: str | None = None, "
                   "task_count: int | None = None, shared: int | collections.abc.Sequence[int] | "
                   "dict[typing.Any, typing.Any] = 0) -> None"),
           "Collective. The arguments are those of the class.")
      .def(
          "exchange",
          [](const rank_halo& self) {
            halo_plans& plans = self.plan();
            const release_gil unlocked;
            plans.start(halo_operation::exchange, {}, {});
            plans.wait();
          },
          nb::sig("def exchange(self) -> None"), "Fills the halos of all fields.")
      .def("exchange", completing(&start), "arrays"_a, "fields"_a = nb::none(),
           "width"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def exchange(self, *arrays: numpy.ndarray, fields: " FIELDS_OF_CALL " = None, "
                   "width: " WIDTH_OF_CALL " = None, " STREAM_OF_CALL),
           "Fills the halos of the given fields, or of all: start() and wait().")
      .def("start", &start, "arrays"_a, "fields"_a = nb::none(), "width"_a = nb::none(),
           "stream"_a = nb::none(),
           nb::sig("def start(self, *arrays: numpy.ndarray, fields: " FIELDS_OF_CALL " = None, "
                   "width: " WIDTH_OF_CALL " = None, " STREAM_OF_CALL),
           R"(Begins an exchange of the given fields, or of all.

arrays: fields of the halo.
fields: a field or several, by names, numbers or arrays.
width: at most this many cells of the halo are filled, in the forms of the class. A field with a
    smaller width keeps its width.
stream: the handle of a stream of the device of the fields (``stream.ptr`` of CuPy), or 0 for its
    default stream: cells are used after the work that the stream has now. Without it, the cells of
    fields in device memory are complete now.

All ranks give the same fields and the same width. The first call with these fields and this width
is collective: it makes and keeps a plan.

Until the exchange is complete, do not read the halo. Do not write shared layers, or cells within a
width of these layers or of a face; if both sides differ, the wider width counts. Meanwhile the
program may read the cells of ``inner``, to compute another field.)");
  add_operation(type, "accumulate", &start_combining<halo_operation::accumulate>,
                COMBINING_CALL(FIELDS_OF_CALL), "Combines the copies of each cell into the cell",
                R"(Begins to combine the copies of cells into the cells of their owners.

The cell becomes op(cell, copy), for one copy after another, in the order of their ranks. Copies are
the cells of halos, and those of a shared layer in the block on the high side. They keep their
values.

op: "add", "minimum", "maximum" or "bitwise_or", or the function of NumPy with this name. Or another
    function of NumPy of two numbers, such as ``numpy.multiply``.
fields, width, stream: as in start().

Until the operation is complete, neither read nor write cells of shared layers, or within a width of
these layers or of a face.)",
                "op"_a = "add", nb::kw_only(), "fields"_a = nb::none(), "width"_a = nb::none(),
                "stream"_a = nb::none());
  add_operation(type, "assemble", &start_combining<halo_operation::assemble>,
                COMBINING_CALL(FIELDS_OF_CALL),
                "Gives each cell and all copies of it their combined value",
                "Begins an accumulate by ``op``, and then gives the value of each cell to its "
                "copies. So a cell has the same bits on all ranks. The arguments and the rules are "
                "those of start_accumulate().",
                "op"_a = "add", nb::kw_only(), "fields"_a = nb::none(), "width"_a = nb::none(),
                "stream"_a = nb::none());
  type.def("test", &test_plan<rank_halo>, nb::sig("def test(self) -> bool"),
           "Makes progress on the operation. Returns True when it is complete.")
      .def("wait", &wait_for_plan<rank_halo>, "stream"_a = nb::none(),
           nb::sig("def wait(self, " STREAM_OF_CALL),
           "Returns when the operation is complete on this rank: its halo is filled, or its cells "
           "are combined. With ``stream``: when the messages have arrived; work that the stream "
           "then gets begins after the operation.")
      .def_prop_ro(
          "fields", [](const rank_halo& self) { return self.arrays; },
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
          "interior", of_all_fields<&interior>("interior"),
          nb::sig("def interior(self) -> tuple[slice, ...]"),
          "The slices of the block in a field with its halo. Like ``inner`` and ``shell``, it "
          "needs "
          "fields with the same widths and shared layers.")
      .def_prop_ro(
          "inner", of_all_fields<&inner>("inner"), nb::sig("def inner(self) -> tuple[slice, ...]"),
          "The slices of the cells that need neither halo nor shared layers. Compute them during "
          "an "
          "exchange.")
      .def_prop_ro(
          "shell", of_all_fields<&shell>("shell"),
          nb::sig("def shell(self) -> list[tuple[slice, ...]]"),
          "The interior outside of ``inner``, in boxes that do not overlap. Compute these cells "
          "after an exchange.")
      .def("interior_of", &of_field<&interior>, "field"_a,
           nb::sig("def interior_of(self, field: " FIELD_OF_CALL ") -> tuple[slice, ...]"),
           "``interior`` of one field, given by its name, number or array.")
      .def("inner_of", &of_field<&inner>, "field"_a,
           nb::sig("def inner_of(self, field: " FIELD_OF_CALL ") -> tuple[slice, ...]"),
           "``inner`` of one field.")
      .def("shell_of", &of_field<&shell>, "field"_a,
           nb::sig("def shell_of(self, field: " FIELD_OF_CALL ") -> list[tuple[slice, ...]]"),
           "``shell`` of one field.")
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
      .def("__repr__", [](const rank_halo& self) { return text_of(self); });
}

}  // namespace longshore::python

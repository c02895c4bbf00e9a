// The classes Boxes and BoxCopy of Python: fields on the boxes of a layout, the exchange of their
// halos, and copies between two layouts.
#include "module.hpp"

#include "box_layouts.hpp"
#include "cell_fields.hpp"
#include "gil.hpp"
#include "kept_plan.hpp"
#include "operations.hpp"
#include "parts.hpp"
#include "plan_methods.hpp"
#include "python_number.hpp"
#include "read_on_all_ranks.hpp"

#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>
#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;

using kept_exchange = kept_plan<box_exchange>;
using kept_copy = kept_plan<box_copy>;

/// The class Boxes.
struct rank_boxes {
  collective_handle<kept_exchange> plans;
  nb::object layout;
  std::vector<cell_field> fields;
  std::vector<box_field_memory> memory;  // of the fields

  [[nodiscard]] kept_exchange& plan() const {
    (void)plans.owner().ranks();  // throws if the team cannot be used here
    return *plans.object();
  }
};

/// The class BoxCopy.
struct rank_copy {
  collective_handle<kept_copy> plans;
  nb::object source, target;

  [[nodiscard]] kept_copy& plan() const {
    (void)plans.owner().ranks();
    return *plans.object();
  }
};

std::vector<shape_list> shapes_of_mine(const rank_layout& layout) {
  std::vector<shape_list> shapes;
  for (const cell_box& box : layout.layout().mine()) {
    shape_list& shape = shapes.emplace_back();
    for (std::size_t d = layout.dimensions; d-- > 0;)
      shape.push_back(static_cast<std::size_t>(box.cells[d]));
  }
  return shapes;
}

// Throws TypeError for a field of the program that is no list of arrays.
void check_lists(std::span<const cell_field> fields) {
  for (const cell_field& field : fields)
    if (field.arrays.is_valid() && !nb::isinstance<nb::list>(field.arrays) &&
        !nb::isinstance<nb::tuple>(field.arrays))
      throw nb::type_error(
          "fields: a field is a list of arrays, one for each box of the rank; so one field is "
          "fields=[[a, b]], and two fields are fields=[[a, b], [c, d]]");
}

// Takes the arrays of the program, which are a list with an array for each box.
std::vector<field_block> given_blocks(cell_field& field, std::span<const shape_list> boxes,
                                      const team& ranks) {
  if (nb::len(field.arrays) != boxes.size())
    fail(errc::usage, "fields: a field of {} arrays on rank {}, which has {} boxes",
         nb::len(field.arrays), ranks.rank(), boxes.size());
  std::vector<field_block> blocks;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const element first_type = field.type;
    const nb::object array = field.arrays[b];
    blocks.push_back({array, memory_of(array, field, boxes[b],
                                       fmt::format("box {} of rank {}", b, ranks.rank()))});
    if (b > 0 && field.type != first_type)
      type_error("fields: box {} of rank {} has elements of {}, and box {} of the same field of {}",
                 b, ranks.rank(), name_of(field.type), b - 1, name_of(first_type));
  }
  return blocks;
}

// Makes the arrays of a field, or checks the arrays of the program.
box_field_memory add_memory(cell_field& field, std::span<const shape_list> boxes,
                            const team& ranks) {
  box_field_memory memory;
  memory.widths = field.layers.widths_of_cpp();
  memory.shared = field.layers.shared_of_cpp();
  nb::list arrays;
  for (field_block& block : field.arrays.is_valid() ? given_blocks(field, boxes, ranks)
                                                    : new_blocks(field, boxes, ranks)) {
    arrays.append(block.array);
    memory.boxes.push_back(std::move(block.memory));
  }
  field.arrays = nb::tuple(arrays);
  return memory;
}

std::vector<python_reference> references_to(std::span<const cell_field> fields) {
  std::vector<python_reference> references;
  for (const cell_field& field : fields) references.emplace_back(field.arrays);
  return references;
}

void make_boxes(rank_boxes* self, nb::handle layout, nb::handle width, nb::handle fields,
                nb::handle dtype, nb::handle shared, std::string_view mode) {
  const rank_layout& of = layout_of(layout);
  const box_layout& boxes = of.layout();
  const auto owner = of.kept.shared_owner();
  team& ranks = owner->ranks();
  free_dropped(*owner);
  box_options options;
  std::vector<cell_field> found;
  common_arguments same;
  read_on_all_ranks(ranks, "Boxes", same, [&] {
    options.mode = from_name<box_mode>(mode);
    found = cell_fields_from(fields, dtype, width, shared, of.dimensions);
    check_lists(found);
    same.add("fields:", found.size());
  });
  std::vector<box_field_memory> memory;
  std::vector<std::int64_t> types;  // -1: this rank has no box, so it does not know the type
  read_on_all_ranks(ranks, "Boxes", [&] {
    const std::vector<shape_list> shapes = shapes_of_mine(of);
    for (cell_field& field : found) {
      const bool is_known = !field.arrays.is_valid() || !shapes.empty();
      memory.push_back(add_memory(field, shapes, ranks));
      types.push_back(is_known ? static_cast<std::int64_t>(field.type) : -1);
    }
  });
  auto plan = std::make_shared<kept_exchange>();
  plan->hold(references_to(found));
  {
    const release_gil unlocked;
    std::vector<std::int64_t> types_elsewhere = types;
    ranks.allreduce(std::span<std::int64_t>(types_elsewhere), reduction::max);
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (types[f] < 0 && types_elsewhere[f] >= 0)
        found[f].type = static_cast<element>(types_elsewhere[f]);
      memory[f].type = &detail::element_type_of_number(found[f].type);
      memory[f].element_bytes = bytes_of(found[f].type);
    }
    plan->hold(std::make_unique<box_exchange>(boxes, options, memory));
    owner->keep(plan);
  }
  new (self)
      rank_boxes{{owner, std::move(plan)}, nb::borrow(layout), std::move(found), std::move(memory)};
}

void start_update(const rank_boxes& self, nb::handle fields, nb::handle width, nb::handle stream) {
  kept_exchange& plan = self.plan();
  const exchange_part part = part_from(self.fields, nb::tuple(), fields, width);
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plan.start([&](box_exchange& halos) { halos.start_update(part, on); });
}

// `Start` is a member of the plan.
template <auto Start>
void start_combining(const rank_boxes& self, nb::handle op, nb::handle fields, nb::handle width,
                     nb::handle stream) {
  kept_exchange& plan = self.plan();
  const exchange_part part = part_from(self.fields, nb::tuple(), fields, width);
  const std::vector<combine_op> ops = ops_from(op, contents_of(self.fields, part), plan.errors());
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plan.start([&](box_exchange& halos) { (halos.*Start)(ops, part, on); });
}

// The cells of a box in an array. Negative ends count from the end, so they fit all boxes.
nb::tuple interior(const field_layers& layers) {
  nb::list slices;
  for (std::size_t d = 0; d < layers.low.size(); ++d) {
    const nb::object end = layers.high[d] == 0 ? nb::none() : nb::object(nb::int_(-layers.high[d]));
    slices.append(nb::slice(nb::int_(layers.low[d]), end, nb::none()));
  }
  return nb::tuple(slices);
}

nb::tuple arrays_of(const rank_boxes& self) {
  nb::list arrays;
  for (const cell_field& field : self.fields) arrays.append(field.arrays);
  return nb::tuple(arrays);
}

nb::dict moved(const rank_boxes& self, std::string_view operation) {
  const box_exchange& plan = self.plan().plan();
  if (operation == "update") return dict_of(plan.moved(box_operation::update));
  if (operation == "accumulate") return dict_of(plan.moved(box_operation::accumulate));
  if (operation == "assemble") return dict_of(plan.moved(box_operation::assemble));
  fail(errc::usage, "moved: operation '{}': allowed are update, accumulate, assemble", operation);
}

std::string text_of(const rank_boxes& self) {
  const bool is_same = have_same_layers(self.fields);
  return fmt::format("<longshore.Boxes: {} boxes{} on rank {}, fields {}>",
                     self.memory.front().boxes.size(),
                     is_same ? fmt::format(" with {}", text_of(self.fields.front().layers)) : "",
                     self.plans.owner().rank(), text_of(self.fields));
}

const rank_boxes& boxes_of(nb::handle boxes, const char* what) {
  if (!nb::isinstance<rank_boxes>(boxes)) type_error("{}: Boxes are needed", what);
  return nb::cast<const rank_boxes&>(boxes);
}

void check_memory(const rank_boxes& from, const rank_boxes& to) {
  std::set<const std::byte*> sources;
  for (const box_field_memory& field : from.memory)
    for (const field_memory& box : field.boxes) sources.insert(box.first);
  for (const box_field_memory& field : to.memory)
    for (const field_memory& box : field.boxes)
      if (sources.contains(box.first))
        fail(errc::usage,
             "BoxCopy: source and target have an array in common: copy between "
             "different arrays");
}

void make_copy(rank_copy* self, nb::handle source, nb::handle target, nb::handle fills_halos,
               std::string_view mode) {
  const rank_boxes &from = boxes_of(source, "source"), &to = boxes_of(target, "target");
  const auto owner = from.plans.shared_owner();
  team& ranks = owner->ranks();
  const box_layout &from_layout = layout_of(from.layout).layout(),
                   &to_layout = layout_of(to.layout).layout();
  free_dropped(*owner);
  box_copy_options options;
  read_on_all_ranks(ranks, "BoxCopy", [&] {
    options = {.mode = from_name<box_mode>(mode), .fills_halos = truth(fills_halos, "fills_halos")};
    check_memory(from, to);
  });
  auto plan = std::make_shared<kept_copy>();
  std::vector<python_reference> arrays = references_to(from.fields);
  for (python_reference& array : references_to(to.fields)) arrays.push_back(std::move(array));
  plan->hold(std::move(arrays));
  {
    const release_gil unlocked;
    plan->hold(std::make_unique<box_copy>(from_layout, from.memory, to_layout, to.memory, options));
    owner->keep(plan);
  }
  new (self) rank_copy{{owner, std::move(plan)}, nb::borrow(source), nb::borrow(target)};
}

void start_copy(const rank_copy& self, nb::handle stream) {
  kept_copy& plan = self.plan();
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plan.start([&](box_copy& copy) { copy.start(on); });
}

#define FIELD_OF_CALL "str | int | tuple[numpy.ndarray, ...]"
#define FIELDS_OF_CALL "str | int | collections.abc.Sequence[str | int] | None"
#define UPDATING_CALL \
  "self, *, fields: " FIELDS_OF_CALL " = None, width: " WIDTH_OF_CALL " = None, " STREAM_OF_CALL

void bind_plan(nb::module_& module) {
  nb::class_<rank_boxes> type(module, "Boxes",
                              R"(Fields on the boxes of a layout, and the exchange of their halos.

Collective. The plan is made once and used often.

layout: a BoxLayout. Any number of plans may use it.
width: the width of the halo: a number, a number for each dimension, or a pair (low, high) for each
    dimension. Or a dict with the widths of fields, by their names or numbers.
fields: the number of fields to make, in memory that neighbours on the node read directly. Or a list
    of fields of the program. Such a field is a list of arrays: one for each box of this rank, with
    the cells of the box and its halo. Arrays may have any strides, and may lie in device memory, as
    those of Halo. The plan keeps a reference to each array. Or a dict, which gives names to the
    fields: a value is such a list, or the type of a field to make.
dtype: the type of the fields to make, or a list with a type for each. Complex types are allowed.
shared: the layers of cells that neighbouring boxes both have: 0 for a field of cells, 1 for a field
    of vertices, or a number for each dimension. Or a dict with the layers of fields. The interior of
    a field is the box and the shared layers on its high side. The box with the lowest number owns a
    shared cell.
mode: 'direct' reads from the owner's memory on a node where possible; 'channel' sends one message
    per rank.

Raises UsageError, UnsupportedError for shared layers in a layout with glued cells, OutOfMemoryError,
or TypeError for unsuitable arrays.

>>> layout = longshore.BoxLayout(None, [((0,), (3,)), ((3,), (2,))])
>>> boxes = longshore.Boxes(layout, width=1)
>>> a, b = boxes.fields[0]
>>> a[boxes.interior], b[boxes.interior] = [1, 2, 3], [4, 5]
>>> boxes.update()
>>> a, b
(array([0., 1., 2., 3., 4.]), array([3., 4., 5., 0.])))");
  type.def("__init__", &make_boxes, "layout"_a, "width"_a = 1, "fields"_a = 1,
           "dtype"_a = "float64", nb::kw_only(), "shared"_a = 0, "mode"_a = "direct",
           nb::sig("def __init__(self, layout: BoxLayout, "
                   "width: int | collections.abc.Sequence[int | tuple[int, int]] | "
                   "dict[typing.Any, typing.Any] = 1, "
                   "fields: int | "
                   "collections.abc.Sequence[collections.abc.Sequence[numpy.ndarray]] | "
                   "dict[str, typing.Any] = 1, "
                   "dtype: numpy.typing.DTypeLike | list[numpy.typing.DTypeLike] = 'float64', *, "
                   "shared: int | collections.abc.Sequence[int] | dict[typing.Any, typing.Any] = "
                   "0, mode: str = 'direct') -> None"),
           "Collective. The arguments are those of the class.");
  add_operation(type, "update", &start_update, UPDATING_CALL,
                "Copies cells of their owners to the halos of other boxes",
                R"(Begins an update of the given fields, or of all.

fields: a field or several, by names or numbers.
width: at most this many cells of the halo are filled, in the forms of the class. A field with a
    smaller width keeps its width.
stream: a stream of the device of the fields, as in ``Halo.start``; so also in ``wait``.

All ranks give the same fields and the same width. The first call with these fields and this width
is collective: it makes and keeps a plan.

Cells that no box owns and shared layers are not changed. Until the update is complete, neither read
nor write halos, and do not write cells within a width of a border of their box.)",
                nb::kw_only(), "fields"_a = nb::none(), "width"_a = nb::none(),
                "stream"_a = nb::none());
  add_operation(type, "accumulate", &start_combining<&box_exchange::start_accumulate>,
                COMBINING_CALL(FIELDS_OF_CALL), "Combines the copies of each cell into the cell",
                R"(Begins to combine the copies of cells into the cells of their owners.

The cell becomes op(cell, copy), for one copy after another, in the order of their boxes. Copies are
the cells of halos, and those of shared layers in boxes that do not own them. They keep their
values. The first start_accumulate() or start_assemble() is collective: it makes a plan.

op: "add", "minimum", "maximum" or "bitwise_or", or the function of NumPy with this name. Or another
    function of NumPy of two numbers, such as ``numpy.multiply``.
fields, width, stream: as in start_update().

Until the operation is complete, neither read nor write the fields.)",
                "op"_a = "add", nb::kw_only(), "fields"_a = nb::none(), "width"_a = nb::none(),
                "stream"_a = nb::none());
  add_operation(type, "assemble", &start_combining<&box_exchange::start_assemble>,
                COMBINING_CALL(FIELDS_OF_CALL),
                "Gives each cell and all copies of it their combined value",
                "Begins an accumulate by ``op``, and then gives the value of each cell to its "
                "copies. So a cell has the same bits in all boxes. The arguments and the rules are "
                "those of start_accumulate().",
                "op"_a = "add", nb::kw_only(), "fields"_a = nb::none(), "width"_a = nb::none(),
                "stream"_a = nb::none());
  type.def("test", &test_plan<rank_boxes>, nb::sig("def test(self) -> bool"),
           "Makes progress on the operation. Returns True when it is complete.")
      .def("wait", &wait_for_plan<rank_boxes>, "stream"_a = nb::none(),
           nb::sig("def wait(self, " STREAM_OF_CALL),
           "Returns when the operation is complete on this rank, and its arrays may be used again.")
      .def_prop_ro("fields", &arrays_of,
                   nb::sig("def fields(self) -> tuple[tuple[numpy.ndarray, ...], ...]"),
                   "The arrays of each field, with their halos: one for each box of this rank.")
      .def_prop_ro(
          "interior",
          [](const rank_boxes& self) { return interior(layers_of_all(self.fields, "interior")); },
          nb::sig("def interior(self) -> tuple[slice, ...]"),
          "The slices of a box in its array, the same for all boxes. It needs fields with the same "
          "widths.")
      .def(
          "interior_of",
          [](const rank_boxes& self, nb::handle field) {
            return interior(self.fields[checked_index_of(self.fields, field)].layers);
          },
          "field"_a,
          nb::sig("def interior_of(self, field: " FIELD_OF_CALL ") -> tuple[slice, ...]"),
          "``interior`` of one field, given by its name, number or arrays.")
      .def_prop_ro(
          "layout", [](const rank_boxes& self) { return self.layout; },
          nb::sig("def layout(self) -> BoxLayout"), "The layout of the boxes.")
      .def_prop_ro(
          "neighbours", [](const rank_boxes& self) { return self.plan().plan().neighbours(); },
          "The number of other ranks with which this rank exchanges messages, or whose memory it "
          "reads.")
      .def_prop_ro(
          "memory_bytes", [](const rank_boxes& self) { return self.plan().plan().memory_bytes(); },
          "The memory of the plan and its parts on this rank, without the layout and the fields.")
      .def("moved", &moved, "operation"_a = "update",
           nb::sig("def moved(self, operation: str = 'update') -> dict[str, int]"),
           "The traffic of this rank in one operation: messages, payload_bytes, wire_bytes, "
           "offnode_bytes. It is 0 for 'accumulate' and 'assemble' before the first of them.")
      .def("__repr__", [](const rank_boxes& self) { return text_of(self); });
}

void bind_copy(nb::module_& module) {
  nb::class_<rank_copy>(module, "BoxCopy",
                        R"(Copies the fields of Boxes to Boxes of another layout.

Collective. Each cell goes to the ranks that have it in the other layout. Both
layouts are on the ranks of one team. Field i of the source is copied to field i of the target,
which has the same type and shares the same layers. Cells that the target has and the source does
not have are not changed. The plan is made once and used often.

source, target: Boxes without an array in common.
fills_halos: whether halo cells of the target are filled, too.
mode: that of Boxes.

>>> rows = longshore.BoxLayout(None, [((0, 0), (1, 4)), ((1, 0), (1, 4))])
>>> whole = longshore.BoxLayout(None, [((0, 0), (2, 4))])
>>> source, target = longshore.Boxes(rows, width=0), longshore.Boxes(whole, width=0)
>>> source.fields[0][1][:] = 7
>>> longshore.BoxCopy(source, target).copy()
>>> target.fields[0][0]
array([[0., 0., 0., 0.],
       [7., 7., 7., 7.]]))")
      .def("__init__", &make_copy, "source"_a, "target"_a, nb::kw_only(), "fills_halos"_a = false,
           "mode"_a = "direct",
           nb::sig("def __init__(self, source: Boxes, target: Boxes, *, fills_halos: bool = False, "
                   "mode: str = 'direct') -> None"),
           "Collective. The arguments are those of the class.")
      .def("copy", completing(&start_copy), "stream"_a = nb::none(),
           nb::sig("def copy(self, " STREAM_OF_CALL), "Copies the fields: start() and wait().")
      .def("start", &start_copy, "stream"_a = nb::none(),
           nb::sig("def start(self, " STREAM_OF_CALL),
           "Begins a copy. Until it is complete, do not write the source, and neither read nor "
           "write the target.")
      .def("test", &test_plan<rank_copy>, nb::sig("def test(self) -> bool"),
           "Makes progress on the copy. Returns True when it is complete.")
      .def("wait", &wait_for_plan<rank_copy>, "stream"_a = nb::none(),
           nb::sig("def wait(self, " STREAM_OF_CALL),
           "Returns when the copy is complete on this rank.")
      .def_prop_ro(
          "source", [](const rank_copy& self) { return self.source; },
          nb::sig("def source(self) -> Boxes"), "The boxes that are copied.")
      .def_prop_ro(
          "target", [](const rank_copy& self) { return self.target; },
          nb::sig("def target(self) -> Boxes"), "The boxes that get the copies.")
      .def_prop_ro(
          "memory_bytes", [](const rank_copy& self) { return self.plan().plan().memory_bytes(); },
          "The memory of the plan on this rank.")
      .def(
          "moved", [](const rank_copy& self) { return dict_of(self.plan().plan().moved()); },
          nb::sig("def moved(self) -> dict[str, int]"),
          "The traffic of this rank in one copy: messages, payload_bytes, wire_bytes, "
          "offnode_bytes.");
}

}  // namespace

void bind_boxes(nb::module_& module) {
  bind_box_layout(module);
  bind_plan(module);
  bind_copy(module);
}

}  // namespace longshore::python

// The class Ghost of Python: plans for the fields of a graph, and their operations.
#include "module.hpp"

#include "ghost_fields.hpp"
#include "ghost_graphs.hpp"
#include "ghost_plans.hpp"
#include "gil.hpp"
#include "operations.hpp"
#include "plan_methods.hpp"
#include "python_number.hpp"
#include "read_on_all_ranks.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;

struct rank_ghost {
  collective_handle<ghost_plan_of_fields> plans;
  nb::object graph;
  nb::tuple fields;  // an array, or a tuple, for each field

  [[nodiscard]] ghost_plan_of_fields& plan() const {
    (void)plans.owner().ranks();  // throws if the team cannot be used here
    return *plans.object();
  }
};

void make_ghost(rank_ghost* self, nb::handle graph, nb::handle fields, nb::handle dtype,
                nb::handle items, std::string_view strategy, nb::handle updates,
                nb::handle accumulates) {
  const rank_graph& of = graph_of(graph);
  const ghost_graph& elements = of.graph();
  ghost_options options;
  field_list list;
  const auto owner = of.kept.shared_owner();
  free_dropped(*owner);
  read_on_all_ranks(owner->ranks(), "Ghost", [&] {
    options = {.strategy = from_name<ghost_strategy>(strategy),
               .updates = truth(updates, "updates"),
               .accumulates = truth(accumulates, "accumulates")};
    list = fields_from(fields, dtype, items, of);
  });
  auto plan = std::make_shared<ghost_plan_of_fields>();
  {
    const release_gil unlocked;
    plan->make(elements, options, std::move(list.fields), std::move(list.arrays));
    owner->keep(plan);
  }
  new (self) rank_ghost{{owner, std::move(plan)}, nb::borrow(graph), nb::tuple(list.given)};
}

void remake(rank_ghost& self, nb::handle graph, nb::handle fields) {
  ghost_plan_of_fields& plan = self.plan();
  const rank_graph& of = graph_of(graph);
  const ghost_graph& elements = of.graph();
  field_list list;
  if (!fields.is_none() || nb::len(self.fields) > 0)
    list =
        arrays_from(fields.is_none() ? nb::object(nb::list(self.fields)) : nb::borrow(fields), of);
  if (list.fields.size() != self.fields.size())
    fail(errc::usage, "remake: {} fields, for a plan of {}", list.fields.size(),
         self.fields.size());
  {
    const release_gil unlocked;
    plan.make(elements, {}, std::move(list.fields), std::move(list.arrays));
  }
  self.graph = nb::borrow(graph);
  self.fields = nb::tuple(list.given);
}

void rebind(rank_ghost& self, nb::handle fields) {
  ghost_plan_of_fields& plan = self.plan();
  field_list list;
  const auto read = [&] { list = arrays_from(fields, graph_of(self.graph)); };
  if (plan.fields().empty())  // this call makes the plan, and is collective
    read_on_all_ranks(self.plans.owner().ranks(), "rebind", read);
  else
    read();
  {
    const release_gil unlocked;
    plan.rebind(std::move(list.fields), std::move(list.arrays));
  }
  self.fields = nb::tuple(list.given);
}

void start_update(rank_ghost& self, nb::handle fields, nb::handle stream) {
  if (!fields.is_none()) rebind(self, fields);
  ghost_plan_of_fields& plan = self.plan();
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plan.start([&](ghost_exchange& ghosts) { ghosts.start_update(on); });
}

// `Start` is a member of the plan.
template <auto Start>
void start_combining(const rank_ghost& self, nb::handle op, nb::handle stream) {
  ghost_plan_of_fields& plan = self.plan();
  std::vector<element_content> contents;
  for (const ghost_rows& field : plan.fields()) contents.push_back(field.content);
  const std::vector<combine_op> ops = ops_from(op, contents, plan.errors());
  const auto on = stream_from(stream);
  const release_gil unlocked;
  plan.start([&](ghost_exchange& ghosts) { (ghosts.*Start)(ops, on); });
}

nb::dict moved(const rank_ghost& self, std::string_view operation) {
  if (operation != "update" && operation != "accumulate")
    fail(errc::usage, "moved: operation '{}': allowed are update, accumulate", operation);
  return dict_of(self.plan().plan().moved(operation == "update" ? ghost_operation::update
                                                                : ghost_operation::accumulate));
}

std::string text_of(const rank_ghost& self) {
  const rank_graph& graph = graph_of(self.graph);
  return fmt::format(
      "<longshore.Ghost: {} fields, {} elements and {} ghosts on rank {}, strategy {}>",
      self.fields.size(), graph.owned, graph.ghosts, self.plans.owner().rank(),
      name_of(self.plan().plan().strategy()));
}

#define COMBINING_CALL \
  "self, op: str | collections.abc.Callable[..., typing.Any] = 'add', " STREAM_OF_CALL
#define FIELDS_OF_CALL \
  "numpy.ndarray | tuple[numpy.ndarray, ...] | list[numpy.ndarray | tuple[numpy.ndarray, ...]]"

void bind_plan(nb::module_& module) {
  nb::class_<rank_ghost> type(
      module, "Ghost",
      R"(Fields on the elements of a graph, and the exchange of their ghosts.

Collective. The plan is made once and used often.

graph: a GhostGraph. Any number of plans may use it.
fields: the number of fields to make, in memory that neighbours on the node read directly. Or arrays
    of the program: one, or a list. Rows of an array, the parts along its first axis, are elements:
    first those that the rank owns, then the ghosts. A tuple (elements, ghosts) is a field in two
    arrays. A tuple (array, element_places, ghost_places) is a field in any rows of one array; places
    are arrays of int64 or int32. Rows may have any stride, so a part of a structured array,
    ``particles["mass"]``, is a field, too. Arrays may lie in device memory, and
    calls take a ``stream``, as in Halo. The plan keeps a reference to each array. None: a plan
    without arrays, which ``rebind(fields)`` or ``update(fields)`` binds before the first operation.
dtype: the type of the fields to make, or a list with a type for each. Complex types are allowed.
items: the numbers in an element of the fields to make.
strategy: "direct", "standard", "node-aware-2", "node-aware", "mpi-waitall", "mpi-persistent",
    "mpi-neighbor", or "auto", which measures them.
updates, accumulates: whether the plan has these operations. A plan with one needs less memory.

>>> graph = longshore.GhostGraph(None, 2, np.array([0, 0, 1]))
>>> ghost = longshore.Ghost(graph)
>>> [x] = ghost.fields
>>> x[:] = [10, 20, 1, 2, 3]
>>> ghost.accumulate("add")
>>> x[:2].tolist()
[13.0, 23.0])");
  type.def("__init__", &make_ghost, "graph"_a, "fields"_a.none() = 1, "dtype"_a = "float64",
           nb::kw_only(), "items"_a = 1, "strategy"_a = "direct", "updates"_a = true,
           "accumulates"_a = true,
           nb::sig("def __init__(self, graph: GhostGraph, fields: int | " FIELDS_OF_CALL
                   " | None = 1, dtype: numpy.typing.DTypeLike | list[numpy.typing.DTypeLike] = "
                   "'float64', *, "
                   "items: int = 1, strategy: str = 'direct', updates: bool = True, "
                   "accumulates: bool = True) -> None"),
           "Collective. The arguments are those of the class.");
  add_operation(type, "update", &start_update,
                "self, fields: " FIELDS_OF_CALL " | None = None, " STREAM_OF_CALL,
                "Copies the elements of all ranks to their ghosts",
                "Begins an update, after a rebind if there are ``fields``. Until it is complete, "
                "do not write owned elements, and neither read nor write ghosts.",
                "fields"_a = nb::none(), "stream"_a = nb::none());
  add_operation(type, "accumulate", &start_combining<&ghost_exchange::start_accumulate>,
                COMBINING_CALL, "Combines each element with all ghosts of it",
                R"(Begins to combine each element with all ghosts of it.

The element becomes op(element, ghost), for one ghost after another. Ghosts keep their values.

op: "add", "minimum", "maximum" or "bitwise_or", or the function of NumPy with this name. Or another
    function of NumPy of two numbers, such as ``numpy.multiply``.

Until the operation is complete, do not write ghosts, and neither read nor write owned elements.)",
                "op"_a = "add", "stream"_a = nb::none());
  add_operation(type, "assemble", &start_combining<&ghost_exchange::start_assemble>, COMBINING_CALL,
                "Gives each element and all ghosts of it their combined value",
                "Begins an accumulate by ``op``, and then an update. Until both are complete, "
                "neither read nor write the fields.",
                "op"_a = "add", "stream"_a = nb::none());
  type.def("test", &test_plan<rank_ghost>, nb::sig("def test(self) -> bool"),
           "Makes progress on the operation. Returns True when it is complete.")
      .def("wait", &wait_for_plan<rank_ghost>, "stream"_a = nb::none(),
           nb::sig("def wait(self, " STREAM_OF_CALL),
           "Returns when the operation is complete on this rank, and its arrays may be used again.")
      .def("remake", &remake, "graph"_a, "fields"_a = nb::none(),
           nb::sig("def remake(self, graph: GhostGraph, fields: " FIELDS_OF_CALL " | None = "
                   "None) -> None"),
           "Collective. Continues with another graph. Without ``fields`` the arrays stay, and need "
           "rows for the ghosts of the graph.")
      .def(
          "rebind", &rebind, "fields"_a,
          nb::sig("def rebind(self, fields: " FIELDS_OF_CALL ") -> None"),
          R"(Binds the plan to other arrays, as many as before, of the same types and with the same places.

The call is local: each rank may make it when its arrays move. If the plan has no arrays yet, it is
collective and makes the plan. Neighbours read arrays that the plan made, so only such arrays can
replace them.)")
      .def_prop_ro(
          "fields", [](const rank_ghost& self) { return self.fields; },
          nb::sig("def fields(self) -> tuple[typing.Any, ...]"),
          "The arrays of the fields; a tuple for a field in two arrays, or with places.")
      .def_prop_ro(
          "graph", [](const rank_ghost& self) { return self.graph; },
          nb::sig("def graph(self) -> GhostGraph"), "The graph of the plan.")
      .def_prop_ro(
          "strategy",
          [](const rank_ghost& self) {
            return std::string(name_of(self.plan().plan().strategy()));
          },
          "The strategy; for 'auto', the strategy that was chosen.")
      .def_prop_ro(
          "neighbours", [](const rank_ghost& self) { return self.plan().plan().neighbours(); },
          "The number of other ranks with which this rank exchanges messages, or whose memory it "
          "reads.")
      .def_prop_ro(
          "memory_bytes", [](const rank_ghost& self) { return self.plan().plan().memory_bytes(); },
          "The memory of the plan on this rank, without the graph and the fields.")
      .def("moved", &moved, "operation"_a = "update",
           nb::sig("def moved(self, operation: str = 'update') -> dict[str, int]"),
           "The traffic of this rank in one operation: messages, payload_bytes, wire_bytes, "
           "offnode_bytes.")
      .def("__repr__", [](const rank_ghost& self) { return text_of(self); });
}

}  // namespace

void bind_ghost(nb::module_& module) {
  bind_ghost_graph(module);
  bind_plan(module);
}

}  // namespace longshore::python

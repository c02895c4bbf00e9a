// The class Team of Python: its ranks and nodes, and its collectives. Before a collective moves
// data, the ranks compare their arguments, so that a mistake raises an exception instead of writing
// past the end of an array.
#include "arrays.hpp"
#include "gil.hpp"
#include "module.hpp"
#include "python_number.hpp"
#include "rank_team.hpp"

#include <longshore/core/error.hpp>
#include <longshore/transport/exact_sum.hpp>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;
using unlocked = nb::call_guard<release_gil>;

reduction reduction_of(const char* what, std::string_view name) {
  if (name == "sum") return reduction::sum;
  if (name == "min") return reduction::min;
  if (name == "max") return reduction::max;
  fail(errc::usage, "{}: operation '{}'; allowed are sum, min, max", what, name);
}

// The arguments of a rank in a collective call. All ranks compare their arguments before data
// moves. Between threads, bytes go straight from array to array, so a longer array would be written
// past the end of a shorter array.
enum class call : std::int64_t { allreduce, broadcast, allgather, alltoall, reduce };
// The type of a number that is not in an array. The values are below all values of `element`.
enum class number : std::int64_t { integer = -2, floating = -1 };
struct call_arguments {
  call made;
  std::int64_t type;  // a number or an element
  std::size_t bytes = 0;
  int choice = 0;  // the root, the operation, or both
};

// The lowest and the highest type over the ranks.
struct type_range {
  std::int64_t min, max;
};

type_range compare(team& ranks, const call_arguments& mine, const char* what) {
  if (ranks.size() == 1) return {mine.type, mine.type};
  enum argument : std::size_t { made, type, bytes, choice, arguments };
  // One allreduce finds maxima and minima: the maximum of -x is the negative of the minimum of x.
  std::array<std::int64_t, 2 * arguments> max{static_cast<std::int64_t>(mine.made), mine.type,
                                              static_cast<std::int64_t>(mine.bytes), mine.choice};
  for (std::size_t i = 0; i < arguments; ++i) max[arguments + i] = -max[i];
  ranks.allreduce(std::span<std::int64_t>(max), reduction::max);
  const auto highest = [&](argument which) { return max[which]; };
  const auto lowest = [&](argument which) { return -max[arguments + which]; };
  if (highest(made) != lowest(made))
    fail(
        errc::usage,
        "{}: another rank is in another collective call; all ranks must make the same calls in the "
        "same order",
        what);
  if (highest(bytes) != lowest(bytes))
    fail(errc::usage,
         "{}: {} bytes on rank {}, {} to {} bytes on the ranks: all must give the same", what,
         mine.bytes, ranks.rank(), lowest(bytes), highest(bytes));
  if (highest(choice) != lowest(choice))
    fail(errc::usage, "{}: another root or operation on another rank: all must give the same",
         what);
  return {lowest(type), highest(type)};
}

void require_alike(team& ranks, call made, const auto& array, int choice, const char* what) {
  const type_range types =
      compare(ranks, {made, static_cast<std::int64_t>(array.type), array.bytes(), choice}, what);
  if (types.min != types.max)
    fail(errc::usage, "{}: {} on rank {}, and another type on another rank: all must give the same",
         what, name_of(array.type), ranks.rank());
}

// An allreduce, or a reduction to a root.
struct reduction_call {
  team& ranks;
  reduction operation;
  std::optional<int> root;

  [[nodiscard]] const char* name() const { return root ? "reduce" : "allreduce"; }
  [[nodiscard]] call made() const { return root ? call::reduce : call::allreduce; }
  [[nodiscard]] int choice() const {
    return static_cast<int>(operation) + (root ? *root * 4 : 0);  // operations are below 4
  }
  [[nodiscard]] bool has_result() const { return !root || ranks.rank() == *root; }
  void run(std::span<double> values) const {
    if (root)
      ranks.reduce(values, operation, *root);
    else
      ranks.allreduce(values, operation);
  }
  // All ranks learn whether sums of integers fit.
  void run(std::span<std::int64_t> values) const {
    if (operation == reduction::sum) {
      std::vector<std::int64_t> sums(values.begin(), values.end());
      sum_exactly(ranks, std::span(sums));
      if (has_result()) std::copy(sums.begin(), sums.end(), values.begin());
    } else if (root) {
      ranks.reduce(values, operation, *root);
    } else {
      ranks.allreduce(values, operation);
    }
  }
};

// Reduces numbers as integers, or as floats if any rank gives a float.
nb::object reduce_number(const reduction_call& reduced, nb::handle value, bool floating) {
  const double real = floating ? PyFloat_AsDouble(value.ptr()) : 0;
  std::int64_t whole = floating ? 0 : whole_number(value, reduced.name());
  double sum = floating ? real : static_cast<double>(whole);
  bool all_whole = false;
  {
    const release_gil unlock;
    const auto mine = static_cast<std::int64_t>(floating ? number::floating : number::integer);
    const type_range types =
        compare(reduced.ranks, {reduced.made(), mine, 0, reduced.choice()}, reduced.name());
    if (types.max > static_cast<std::int64_t>(number::floating))
      fail(errc::usage, "{}: a number on rank {}, an array on another: all must give the same",
           reduced.name(), reduced.ranks.rank());
    all_whole = types.max == static_cast<std::int64_t>(number::integer);
    if (all_whole)
      reduced.run(std::span(&whole, 1));
    else
      reduced.run(std::span(&sum, 1));
  }
  if (!reduced.has_result()) return nb::none();
  return all_whole ? nb::cast(whole) : nb::cast(sum);
}

nb::object reduce_value(const reduction_call& reduced, nb::object value) {
  if (!nb::hasattr(value, "__len__")) {
    const nb::object number = plain_number(value);
    if (PyFloat_Check(number.ptr())) return reduce_number(reduced, number, true);
    if (PyIndex_Check(number.ptr()) != 0) return reduce_number(reduced, number, false);
  }
  const auto values =
      contiguous_for_writing(value, reduced.name(), std::array{element::int64, element::float64});
  {
    const release_gil unlock;
    require_alike(reduced.ranks, reduced.made(), values, reduced.choice(), reduced.name());
    if (values.type == element::int64)
      reduced.run(std::span(reinterpret_cast<std::int64_t*>(values.data), values.items));
    else
      reduced.run(std::span(reinterpret_cast<double*>(values.data), values.items));
  }
  return reduced.has_result() ? value : nb::none();
}

nb::object allreduce(const rank_team& self, nb::object value, std::string_view name) {
  return reduce_value({self.ranks(), reduction_of("allreduce", name), {}}, std::move(value));
}

nb::object reduce(const rank_team& self, nb::object value, std::string_view name, int root) {
  team& ranks = self.ranks();
  if (root < 0 || root >= ranks.size())
    fail(errc::usage, "reduce: root {}; ranks are 0 to {}", root, ranks.size() - 1);
  return reduce_value({ranks, reduction_of("reduce", name), root}, std::move(value));
}

nb::object broadcast(const rank_team& self, nb::object array, int root) {
  team& ranks = self.ranks();
  if (root < 0 || root >= ranks.size())
    fail(errc::usage, "broadcast: root {}; ranks are 0 to {}", root, ranks.size() - 1);
  const auto memory = contiguous_for_writing(array, "broadcast");
  const release_gil unlock;
  require_alike(ranks, call::broadcast, memory, root, "broadcast");
  ranks.broadcast({memory.data, memory.bytes()}, root);
  return array;
}

nb::object allgather(const rank_team& self, nb::handle array) {
  team& ranks = self.ranks();
  const auto mine = contiguous_for_reading(array, "allgather");
  std::vector<std::size_t> shape = mine.shape;
  shape.insert(shape.begin(), static_cast<std::size_t>(ranks.size()));
  nb::object blocks = new_array(shape, mine.type);
  const auto to = contiguous_for_writing(blocks, "allgather");
  const release_gil unlock;
  require_alike(ranks, call::allgather, mine, 0, "allgather");
  ranks.allgather({mine.data, mine.bytes()}, {to.data, to.bytes()});
  return blocks;
}

nb::object alltoall(const rank_team& self, nb::handle array) {
  team& ranks = self.ranks();
  const auto outgoing = contiguous_for_reading(array, "alltoall");
  if (outgoing.shape.empty() || outgoing.shape[0] != static_cast<std::size_t>(ranks.size()))
    fail(errc::usage,
         "alltoall: the first dimension of the array has {} elements; it must have {}, a block for "
         "each "
         "rank",
         outgoing.shape.empty() ? 0 : outgoing.shape[0], ranks.size());
  nb::object incoming = new_array(outgoing.shape, outgoing.type);
  const auto to = contiguous_for_writing(incoming, "alltoall");
  const release_gil unlock;
  require_alike(ranks, call::alltoall, outgoing, 0, "alltoall");
  ranks.alltoall({outgoing.data, outgoing.bytes()}, {to.data, to.bytes()});
  return incoming;
}

void close(const rank_team& self) {
  if (self.owner->ended()) return;
  (void)self.ranks();  // throws in another thread
  const release_gil unlock;
  self.owner->end();
}

std::string text_of(const rank_team& self) {
  const team_owner& owner = *self.owner;
  if (owner.ended())
    return fmt::format("<longshore.Team: rank {} of {}, ended>", owner.rank(), owner.size());
  if (!owner.is_usable())
    return fmt::format("<longshore.Team: rank {} of {}, of another thread>", owner.rank(),
                       owner.size());
  const team& ranks = owner.ranks();
  const node_map& nodes = ranks.nodes();
  return fmt::format("<longshore.Team: rank {} of {}, transport {}, node {} of {}>", ranks.rank(),
                     ranks.size(), ranks.transport_name(), nodes.my_node(), nodes.node_count());
}

}  // namespace

void bind_team(nb::module_& module) {
  nb::class_<rank_team>(module, "Team", R"(The ranks of a run, seen from one rank.

run() passes a Team to main. world() returns the team of all processes. Team(comm) makes a team from
an mpi4py communicator. All ranks make the same collective calls in the same order. Only the thread
that runs the rank may use its team. A wait beyond the deadline raises DeadlineError, which names
the rank, the peer and the operation.

>>> longshore.run(lambda team: (team.rank, team.size), ranks=3)
(0, 3)
)")
      .def(
          "__init__",
          [](rank_team* self, nb::object comm, std::optional<int> ranks_per_node,
             std::optional<double> timeout_seconds, std::optional<bool> check_calls) {
            new (self) rank_team(nb::cast<rank_team>(
                nb::module_::import_("longshore._core")
                    .attr("_join")(comm, ranks_per_node, timeout_seconds, check_calls)));
          },
          "comm"_a, nb::kw_only(), "ranks_per_node"_a = nb::none(),
          "timeout_seconds"_a = nb::none(), "check_calls"_a = nb::none(),
          nb::sig("def __init__(self, comm: typing.Any, *, ranks_per_node: int | None = None, "
                  "timeout_seconds: float | None = None, check_calls: bool | None = None) -> None"),
          R"(Collective. Makes a team of all ranks of an mpi4py communicator.

The team ends with close(), at the end of a with block, or with the program, before MPI ends. For an
option that is None the environment decides.

ranks_per_node: makes virtual nodes of this many ranks. Else LONGSHORE_RANKS_PER_NODE.
timeout_seconds: the deadline of every wait; 0 means no deadline. Else LONGSHORE_TIMEOUT, else 300.
check_calls: compare every collective call between ranks. Else LONGSHORE_CHECK, else False.

Raises UsageError for COMM_NULL, for an intercommunicator, and if MPI has ended.)")
      .def_prop_ro(
          "rank", [](const rank_team& self) { return self.owner->rank(); }, "This rank, from 0.")
      .def_prop_ro(
          "size", [](const rank_team& self) { return self.owner->size(); }, "The number of ranks.")
      .def_prop_ro(
          "transport",
          [](const rank_team& self) { return std::string(self.ranks().transport_name()); },
          "The transport: 'threads', 'mpi', 'shmem' or 'ucx'.")
      .def_prop_ro(
          "library", [](const rank_team& self) { return self.ranks().library_version(); },
          "The communication library and its version; '' on threads.")
      .def_prop_ro(
          "node", [](const rank_team& self) { return self.ranks().nodes().my_node(); },
          "The node of this rank, from 0.")
      .def_prop_ro(
          "node_count", [](const rank_team& self) { return self.ranks().nodes().node_count(); },
          "The number of nodes.")
      .def_prop_ro(
          "node_ranks",
          [](const rank_team& self) {
            const auto ranks = self.ranks().nodes().my_ranks();
            return std::vector<int>(ranks.begin(), ranks.end());
          },
          "The ranks of this rank's node, in ascending order.")
      .def(
          "node_of",
          [](const rank_team& self, int rank) {
            const team& ranks = self.ranks();
            if (rank < 0 || rank >= ranks.size())
              fail(errc::usage, "rank {}: ranks are 0 to {}", rank, ranks.size() - 1);
            return ranks.nodes().node_of(rank);
          },
          "rank"_a, "The node of a rank.")
      .def_prop_ro(
          "cpus",
          [](const rank_team& self) {
            const auto cpus = self.ranks().cpus();
            return std::vector<int>(cpus.begin(), cpus.end());
          },
          "The CPUs that this rank may use.")
      .def_prop_ro(
          "waited_seconds", [](const rank_team& self) { return self.ranks().waited_seconds(); },
          "Seconds that this rank has waited for other ranks so far.")
      .def(
          "now", [](const rank_team& self) { return self.ranks().now(); },
          "Seconds on the clock of the transport. Compare times of the same rank only.")
      .def(
          "barrier", [](const rank_team& self) { self.ranks().barrier(); }, unlocked(),
          "Collective. Waits for all ranks. Data that any rank stored before is visible "
          "afterwards.")
      .def("allreduce", &allreduce, "value"_a, "op"_a = "sum",
           nb::sig("def allreduce(self, value: V, op: str = 'sum') -> V"),
           R"(Collective. Reduces a number or an array over all ranks; every rank gets the result.

value: an int or a float, also a scalar of NumPy; the result is a Python number. If one rank gives a
    float, all ranks get a float. Or a contiguous array of int64 or float64 with the same shape on
    all ranks, which is reduced element by element, in place, and returned.
op: 'sum', 'min' or 'max'.

Raises UsageError on all ranks if their arguments differ, or if a sum of integers does not fit
int64; then no value has changed.

>>> longshore.run(lambda team: team.allreduce(0.5 * team.rank, 'max'), ranks=3)
1.0
)")
      .def("reduce", &reduce, "value"_a, "op"_a = "sum", "root"_a = 0,
           nb::sig("def reduce(self, value: V, op: str = 'sum', root: int = 0) -> V | None"),
           R"(Collective. Like allreduce, but only rank root gets the result; the others get None.

Arrays of the other ranks do not change. Floats are combined in the order of ranks, so a sum has the
same bits in every run and over every transport.

>>> longshore.run(lambda team: team.reduce(0.5 * team.rank, 'max'), ranks=3)
1.0
)")
      .def("broadcast", &broadcast, "array"_a, "root"_a = 0,
           nb::sig("def broadcast(self, array: V, root: int = 0) -> V"),
           "Collective. Copies the array of rank root into the arrays of all ranks, and returns "
           "this "
           "rank's array. All arrays are contiguous, of the same type and number of bytes.")
      .def("allgather", &allgather, "array"_a,
           nb::sig("def allgather(self, array: numpy.ndarray) -> numpy.ndarray"),
           "Collective. Returns a new array of shape (size, *array.shape); element r is the array "
           "of "
           "rank r. All ranks give contiguous arrays of the same type and shape.")
      .def(
          "alltoall", &alltoall, "array"_a,
          nb::sig("def alltoall(self, array: numpy.ndarray) -> numpy.ndarray"),
          "Collective. Sends block r along the first dimension, of length size, to rank r. Returns "
          "a new array of the same shape with the received blocks, in the order of their ranks.")
      .def("close", &close,
           "Collective. Ends a team made by Team(comm), and frees its tables and halos. Without "
           "close(), "
           "the team ends with the program.")
      .def(
          "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Team"))
      .def(
          "__exit__",
          [](const rank_team& self, nb::handle type, nb::handle, nb::handle) {
            if (type.is_none()) close(self);
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"))
      .def("__repr__", &text_of);
}

}  // namespace longshore::python

// The function stream() of Python: runs a kernel of STREAM on arrays of every rank, takes the time
// of the slowest rank, and verifies all elements.
#include "module.hpp"

#include "arrays.hpp"
#include "gil.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"
#include "task_arguments.hpp"

#include <longshore/core/error.hpp>
#include <longshore/stream/stream.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace longshore::python {
namespace {

using namespace nb::literals;

/// The result of stream().
struct stream_result {
  std::string kernel, type;
  std::size_t elements = 0;     ///< per rank
  std::vector<double> seconds;  ///< of the slowest rank, for each repetition
  double node_bytes = 0;        ///< moved per repetition, on the node with most ranks
  std::int64_t wrong = 0;       ///< wrong elements of all ranks

  [[nodiscard]] double median_seconds() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
  [[nodiscard]] double bandwidth() const { return node_bytes / median_seconds() / 1e9; }
  [[nodiscard]] double best_bandwidth() const {
    return node_bytes / *std::min_element(seconds.begin(), seconds.end()) / 1e9;
  }
};

struct stream_request {
  stream_kernel kernel;
  std::size_t elements;
  int repetitions;
  std::string memory;
  task_options tasking;
  std::optional<store_kind> stores;  // if empty, the size of the arrays decides
  first_touch touch;
};

store_kind stores_from(std::string_view name) {
  if (name != "ordinary" && name != "streaming")
    fail(errc::usage, "stores '{}': allowed are auto, ordinary, streaming", name);
  return from_name<store_kind>(name);
}

template <class T>
stream_result measure(team& ranks, const stream_request& request) {
  tasks workers(request.tasking);
  const std::size_t bytes = arrays_touched(request.kernel) * sizeof(T) * request.elements;
  const auto ranks_here = static_cast<std::size_t>(ranks.nodes().largest_node());
  stream_options options{.kernel = request.kernel,
                         .stores = request.stores.value_or(
                             store_kind_for(3 * sizeof(T) * request.elements * ranks_here,
                                            workers.count() * static_cast<int>(ranks_here))),
                         .first_touch = request.touch};
  stream<own_arrays<T>> arrays(own_arrays<T>(request.elements, request.memory), workers, options);
  stream_result result;
  arrays.run();  // not timed
  for (int i = 0; i < request.repetitions; ++i) {
    ranks.barrier();
    const double began = ranks.now();
    arrays.run();
    result.seconds.push_back(ranks.now() - began);
  }
  ranks.allreduce(std::span(result.seconds), reduction::max);
  result.wrong =
      ranks.allreduce_value(static_cast<std::int64_t>(arrays.wrong_elements()), reduction::sum);
  result.node_bytes = static_cast<double>(bytes * ranks_here);
  return result;
}

stream_result run_stream(nb::handle team_given, std::string_view kernel, std::int64_t elements,
                         int repetitions, nb::handle dtype, nb::handle tasks_given,
                         std::string memory, std::optional<int> task_count, std::string_view stores,
                         std::string_view touch) {
  const rank_team mine = team_or_world(team_given);
  auto& ranks = mine.ranks();
  element type{};
  stream_request request;
  common_arguments same;
  read_on_all_ranks(ranks, "stream", same, [&] {
    if (elements < 1 || repetitions < 1)
      fail(errc::usage, "stream: {} elements, {} repetitions: at least 1 of each", elements,
           repetitions);
    type = element_of(dtype);
    if (!is_floating(type))
      fail(errc::usage, "stream: dtype {}: allowed are float32, float64", name_of(type));
    request = {from_name<stream_kernel>(kernel),
               static_cast<std::size_t>(elements),
               repetitions,
               std::move(memory),
               task_options_from(ranks, tasks_given, task_count),
               stores == "auto" ? std::optional<store_kind>() : stores_from(stores),
               from_name<first_touch>(touch)};
    same.add("kernel", kernel)
        .add("elements", elements)
        .add("repetitions", repetitions)
        .add("dtype", name_of(type));
  });
  stream_result result;
  {
    const release_gil unlocked;
    result =
        type == element::float32 ? measure<float>(ranks, request) : measure<double>(ranks, request);
  }
  result.kernel = kernel;
  result.type = name_of(type);
  result.elements = request.elements;
  return result;
}

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<stream_result>(module, "StreamResult", "The result of stream().")
      .def_ro("kernel", &stream_result::kernel, "The kernel that was measured.")
      .def_ro("elements", &stream_result::elements,
              "Elements of each of the three arrays of a rank.")
      .def_ro("seconds", &stream_result::seconds,
              "Seconds of each repetition, of the slowest rank.")
      .def_prop_ro("bandwidth", &stream_result::bandwidth,
                   "GB/s of a node, from the median of the repetitions.")
      .def_prop_ro("best_bandwidth", &stream_result::best_bandwidth,
                   "GB/s of a node, from the fastest repetition, as STREAM reports it.")
      .def_prop_ro(
          "verified", [](const stream_result& self) { return self.wrong == 0; },
          "Whether every element is correct.")
      .def("__repr__", [](const stream_result& self) {
        return fmt::format(
            "<longshore.StreamResult: {} of {} {} per rank, {:.3g} GB/s per node, {}>", self.kernel,
            self.elements, self.type, self.bandwidth(),
            self.wrong == 0 ? "verified" : fmt::format("{} elements are WRONG", self.wrong));
      });
  module.def(
      "stream", &run_stream, "team"_a.none() = nb::none(), "kernel"_a = "triad",
      "elements"_a = 1 << 22, nb::kw_only(), "repetitions"_a = 10, "dtype"_a = "float64",
      "tasks"_a = nb::none(), "memory"_a = "malloc", "task_count"_a = nb::none(),
      "stores"_a = "auto", "first_touch"_a = "auto",
      nb::sig("def stream(team: Team | None = None, kernel: str = 'triad', elements: int = "
              "4194304, *, repetitions: int = 10, "
              "dtype: numpy.typing.DTypeLike = 'float64', tasks: str | None = None, memory: str = "
              "'malloc', task_count: int | None = None, stores: "
              "str = 'auto', first_touch: str = 'auto') -> "
              "StreamResult"),
      R"(Collective. Measures a kernel of STREAM on arrays of each rank, and verifies every element.

kernel: 'copy', 'scale', 'add' or 'triad'.
elements: of each array of a rank. dtype: float32 or float64.
repetitions: timed runs. One run before them is not timed.
tasks, task_count: the tasking layer of each rank ('serial', 'threads', 'openmp', 'tbb'), and its
    number of tasks. Without a number: the rank's share of the cores.
stores: 'ordinary'; 'streaming', which bypasses the caches; 'auto' decides by the size of the arrays.
first_touch: the tasks that write the pages first: 'serial', 'parallel', or 'auto', which measures.
memory: a policy of docs/reference/stream.md.

Raises UsageError for a wrong argument, and OutOfMemoryError. A rank needs memory for three arrays.

>>> longshore.stream(None, "copy", elements=1000).verified
True
)");
}

}  // namespace longshore::python

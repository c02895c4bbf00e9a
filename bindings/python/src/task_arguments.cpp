// Reads the arguments tasks and task_count.
#include "task_arguments.hpp"

#include <longshore/core/error.hpp>

#include <nanobind/stl/string.h>

#include <algorithm>

namespace longshore::python {

task_options task_options_from(const team& ranks, nanobind::handle tasks,
                               std::optional<int> task_count) {
  namespace nb = nanobind;
  if (!tasks.is_none() && !nb::isinstance<nb::str>(tasks))
    throw nb::type_error("tasks: the name of a tasking layer is needed, such as 'threads'");
  const std::string layer = tasks.is_none() ? "serial" : nb::cast<std::string>(tasks);
  const int count = task_count.value_or(0);
  if (count < 0)
    fail(errc::usage, "task_count {}: 1 or more, or 0 for the rank's share of the cores", count);
  if (layer == "serial" && count > 1)
    fail(errc::usage, "{} tasks with layer serial, which has one: use threads, openmp or tbb",
         count);
  const int share = layer == "serial" ? 1 : std::max(1, static_cast<int>(ranks.cpus().size()));
  return {.layer = layer,
          .count = count > 0 ? count : share,
          .cpus = ranks.cpus(),
          .spin = ranks.waiting().spin};
}

}  // namespace longshore::python

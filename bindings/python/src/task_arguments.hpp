// The arguments tasks and task_count of Python, which choose the tasks of a rank.
#pragma once

#include <longshore/machine/tasks.hpp>
#include <longshore/transport/team.hpp>

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

namespace longshore::python {

/// The options of the tasks of a rank. `tasks`: None or the name of a layer. `task_count`: the
/// number of tasks; None or 0 for the rank's share of the cores, and 1 with layer serial. Throws
/// errc::usage for a wrong number, and TypeError for other types. The result refers to CPUs of the
/// team.
[[nodiscard]] task_options task_options_from(const team& ranks, nanobind::handle tasks,
                                             std::optional<int> task_count);

}  // namespace longshore::python

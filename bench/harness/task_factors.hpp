// The factors tasks and task-count, for all patterns that have them.
#pragma once

#include <longshore/machine/tasks.hpp>
#include <longshore/transport/team.hpp>

#include "harness/pattern.hpp"

namespace longshore::bench {

/// The level of factor task-count; 0 if the variant has none.
[[nodiscard]] int task_count_of(const variant& levels);

/// The tasks of a rank. By default, layer serial has one task, and other layers have one for each
/// CPU of the rank. Tasks are bound to CPUs if the calling thread is bound to one CPU.
[[nodiscard]] task_options task_options_of(const team& ranks, const variant& levels);

}  // namespace longshore::bench

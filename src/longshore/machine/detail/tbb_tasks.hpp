// The tasking layer "tbb": an arena of oneTBB for each tasks object, with pieces dealt out by its
// static partitioner.
#pragma once

#include <longshore/machine/task_layer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace longshore::detail {

/// Why tasks of oneTBB cannot be had, as a sentence, or nothing.
[[nodiscard]] std::optional<std::string> why_no_tbb_tasks();

/// Task i is meant for place i of the arena, and goes there whenever a worker of oneTBB is at that
/// place in time. One that comes late finds its task taken: oneTBB promises that all tasks run, not
/// that they run at the same time. So kernels must not wait for each other across tasks, and two
/// tasks may run one after the other in one thread.
///
/// Places, not threads, have CPUs: a worker is bound when it enters the arena and given back its
/// CPUs when it leaves. For as long as tasks of several places exist, oneTBB is allowed as many
/// threads as they ask for, also more than there are CPUs. Idle workers leave by oneTBB's own
/// rules; task_options::spin has no effect.
[[nodiscard]] std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options);

}  // namespace longshore::detail

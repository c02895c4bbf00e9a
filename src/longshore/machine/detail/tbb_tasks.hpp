// The tasking layer "tbb": an arena of oneTBB for each `tasks` object, with its static partitioner.
#pragma once

#include <longshore/machine/detail/task_layer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace longshore::detail {

/// A sentence that says why tasks of oneTBB are not available; nothing if they are.
[[nodiscard]] std::optional<std::string> why_no_tbb_tasks();

/// Task i runs in slot i of the arena if a worker of oneTBB is there in time, else in another
/// thread, maybe after another task.
///
/// CPUs belong to slots: a worker is bound when it enters the arena, and gets its CPUs back when it
/// leaves. While the object lives, oneTBB may use more threads than there are CPUs. oneTBB decides
/// when idle workers leave; task_options::spin has no effect.
[[nodiscard]] std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options);

}  // namespace longshore::detail

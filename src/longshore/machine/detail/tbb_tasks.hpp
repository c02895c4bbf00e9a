// The tasking layer "tbb": an arena of oneTBB for each `tasks` object, with its static partitioner.
#pragma once

#include <longshore/machine/detail/task_layer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace longshore::detail {

/// Why tasks of oneTBB are not available, as a sentence; nothing if they are.
[[nodiscard]] std::optional<std::string> why_no_tbb_tasks();

/// Task i runs in slot i of the arena if a worker of oneTBB is there in time, else another thread
/// runs it. oneTBB guarantees that all tasks run, but not that they run at the same time. So bodies
/// must not wait for each other across tasks: one thread may run two tasks one after the other.
///
/// Slots have CPUs, threads do not: a worker is bound when it enters the arena, and gets its CPUs
/// back when it leaves. While such an object lives, oneTBB may use as many threads as it asks for,
/// even more than there are CPUs. oneTBB's own rules decide when idle workers leave;
/// task_options::spin has no effect.
[[nodiscard]] std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options);

}  // namespace longshore::detail

// The tasking layer "openmp": parallel regions of OpenMP.
#pragma once

#include <longshore/machine/detail/task_layer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace longshore::detail {

/// A sentence that says why `count` tasks of OpenMP are not available; nothing if they are.
[[nodiscard]] std::optional<std::string> why_no_openmp_tasks(int count);

/// All tasks run at the same time. For one calling thread, task i is always on the same thread.
/// OpenMP keeps separate threads for each calling thread. So ranks that are threads never share
/// OpenMP's threads, and a caller other than the constructing thread uses additional threads.
///
/// Idle threads of GNU's OpenMP spin for milliseconds, or less if threads outnumber CPUs. A running
/// program cannot change this. Set OMP_WAIT_POLICY=passive (sleep at once) before the start if
/// ranks or other tasks need the cores between regions.
///
/// Threads get their CPUs at their first region. If OMP_PROC_BIND is set and tasks are not pinned,
/// OpenMP's own placement stays. Inside a parallel region of the user's own OpenMP, the rules of
/// OpenMP apply: without task_options::nested all parts run in the calling thread.
[[nodiscard]] std::unique_ptr<task_layer> make_openmp_tasks(const task_options& options);

}  // namespace longshore::detail

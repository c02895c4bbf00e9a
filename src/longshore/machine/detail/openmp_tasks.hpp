// The tasking layer "openmp": parallel regions of OpenMP. Its run time keeps a team of threads for
// each calling thread.
#pragma once

#include <longshore/machine/detail/task_layer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace longshore::detail {

/// Why this many tasks of OpenMP are not available, as a sentence; nothing if they are.
[[nodiscard]] std::optional<std::string> why_no_openmp_tasks(int count);

/// All tasks run at the same time. For one calling thread, task i is always on the same thread.
/// OpenMP gives each calling thread a team of its own. So ranks that are threads never share
/// OpenMP's threads, and a caller other than the constructing thread uses additional threads while
/// those of the constructing thread are idle.
///
/// Idle threads wait as OpenMP does. With GNU's they spin for milliseconds, or less if they
/// outnumber the CPUs. OMP_WAIT_POLICY (passive: sleep at once) and GOMP_SPINCOUNT set this before
/// the program starts; a program cannot change it, and task_options::spin has no effect. Set
/// OMP_WAIT_POLICY=passive if ranks or other tasks need the cores between regions.
///
/// Threads get their CPUs at their first region. If OMP_PROC_BIND is set and tasks are not pinned,
/// OpenMP's own placement stays. Inside a parallel region of the user's own OpenMP, the rules of
/// OpenMP apply: without task_options::nested all parts run in the calling thread.
[[nodiscard]] std::unique_ptr<task_layer> make_openmp_tasks(const task_options& options);

}  // namespace longshore::detail

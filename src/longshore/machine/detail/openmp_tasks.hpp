// The tasking layer "openmp": regions of the compiler's OpenMP, with threads that its run time
// keeps for each calling thread.
#pragma once

#include <longshore/machine/task_layer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace longshore::detail {

/// Why this many tasks of OpenMP cannot be had, as a sentence, or nothing.
[[nodiscard]] std::optional<std::string> why_no_openmp_tasks(int count);

/// All tasks at the same time; task i is always on the same thread for the same calling thread.
/// Each thread that starts regions has a team of its own, as OpenMP has it: the threads of ranks
/// that are threads never mix, and those of a caller that is not the maker come in addition to the
/// maker's, which then are idle.
///
/// Idle threads wait as OpenMP does: with GNU's they spin for milliseconds, less where there are
/// more of them than CPUs. That is set by OMP_WAIT_POLICY (passive: sleep at once) and
/// GOMP_SPINCOUNT before the program starts; a program cannot change it, and task_options::spin has
/// no effect. Where ranks or other tasks want the cores between regions: OMP_WAIT_POLICY=passive.
///
/// Threads are given their CPUs at their first region, unless OMP_PROC_BIND is set and tasks are
/// not pinned: then OpenMP's own placement is left alone. Inside a parallel region of the user's
/// own OpenMP the rules of OpenMP decide: without task_options::nested all pieces run in the
/// calling thread.
[[nodiscard]] std::unique_ptr<task_layer> make_openmp_tasks(const task_options& options);

}  // namespace longshore::detail

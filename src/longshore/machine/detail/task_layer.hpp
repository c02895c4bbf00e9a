// The interface of a tasking layer, which runs a function once per task, at the same time.
#pragma once

#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longshore::detail {

/// Only class `tasks` uses layers; it handles waiting, nesting and errors of regions. A parallel
/// region costs one virtual call: its body is inlined into the function of the region_body.
class task_layer {
 public:
  virtual ~task_layer() = default;
  /// Calls body(task) once for each task, with task 0 on the calling thread, and returns when all
  /// tasks have ended. `body` does not throw. Any thread may start a region, one at a time.
  virtual void run(region_body body) = 0;
};

/// Returns the CPUs of each task. If tasks are pinned, each task gets one of `options.cpus`, spread
/// evenly. Otherwise each task gets all of `options.cpus`. Empty `options.cpus` stand for the CPUs
/// of the calling thread. Layers must bind threads also if tasks are not pinned, because a new
/// thread inherits the binding of its creator.
[[nodiscard]] std::vector<std::vector<int>> cpus_of_tasks(const task_options& options);

/// Binds the calling thread, which is task 0, while the object lives. If tasks are not pinned, the
/// object does nothing.
class task_0_binding {
 public:
  task_0_binding(const task_options& options, const std::vector<std::vector<int>>& cpus);

 private:
  std::optional<pinned> binding_;
};

// The layers openmp and tbb. In a build without them, tasks.cpp says what is missing.

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

/// A sentence that says why tasks of oneTBB are not available; nothing if they are.
[[nodiscard]] std::optional<std::string> why_no_tbb_tasks();

/// Each `tasks` object has an arena of oneTBB, and uses oneTBB's static partitioner. Task i runs in
/// slot i of the arena if a worker of oneTBB enters the slot in time. Otherwise the task runs in
/// another thread, maybe after another task.
///
/// CPUs belong to slots: a worker is bound when it enters the arena, and gets its CPUs back when it
/// leaves. While the object lives, oneTBB may use more threads than there are CPUs. oneTBB decides
/// when idle workers leave; task_options::spin has no effect.
[[nodiscard]] std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options);

// Annotations for ThreadSanitizer about run times that are not instrumented (OpenMP, oneTBB). The
// annotations do nothing in other builds. They are not inline, because their callers are compiled
// without the sanitizer.

/// States that all earlier writes of this thread are visible after a later annotate_acquire of the
/// same address.
void annotate_release(void* address) noexcept;
void annotate_acquire(void* address) noexcept;

}  // namespace longshore::detail

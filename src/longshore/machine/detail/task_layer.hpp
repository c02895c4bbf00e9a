// The interface of a tasking layer, which runs a function once per task, at the same time.
#pragma once

#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>

#include <atomic>
#include <memory>
#include <mutex>
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

/// What the parallel regions of one `tasks` object share.
struct task_region_state {
  std::mutex busy;  // held while a region runs on the layer
  // Tasks inside a region. Changes only when a region begins or ends, so that tasks exchange no
  // cache lines.
  std::atomic<int> running = 0;
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

/// A tasking layer on a foreign library. In a shared build it is a module, which is loaded when a
/// program asks for the layer (core/detail/module.hpp).
struct task_layer_entry {
  /// A sentence that says why `count` tasks are not available; nothing if they are.
  std::optional<std::string> (*why_none)(int count);
  std::unique_ptr<task_layer> (*make)(const task_options& options);
};

// Annotations for ThreadSanitizer about run times that are not instrumented (OpenMP, oneTBB). The
// annotations do nothing in other builds. They are not inline, because their callers are compiled
// without the sanitizer.

/// States that all earlier writes of this thread are visible after a later annotate_acquire of the
/// same address.
void annotate_release(void* address) noexcept;
void annotate_acquire(void* address) noexcept;

}  // namespace longshore::detail

// Each layer defines its own entry. The names have no namespace, so that modules can be asked for
// them.
extern "C" {
extern const longshore::detail::task_layer_entry entry_of_longshore_openmp;
extern const longshore::detail::task_layer_entry entry_of_longshore_tbb;
}

// The interface of a tasking layer, which runs a function once per task, at the same time.
#pragma once

#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>

#include <optional>
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

/// The CPUs of each task: if tasks are pinned, one of `options.cpus`, spread evenly; else all of
/// `options.cpus`. Empty `options.cpus` stand for the CPUs of the calling thread. Layers must bind
/// threads in both cases, because a new thread inherits the binding of its creator.
[[nodiscard]] std::vector<std::vector<int>> cpus_of_tasks(const task_options& options);

/// Binds the calling thread, which is task 0, while the object lives. Binds nothing unless tasks
/// are pinned.
class task_0_binding {
 public:
  task_0_binding(const task_options& options, const std::vector<std::vector<int>>& cpus);

 private:
  std::optional<pinned> binding_;
};

}  // namespace longshore::detail

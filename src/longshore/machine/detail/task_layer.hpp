// The interface of a tasking layer: it runs one function once per task, at the same time.
#pragma once

#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>

#include <optional>
#include <vector>

namespace longshore::detail {

/// A parallel region costs one virtual call; its body is inlined into the function of the call.
/// Only `tasks` uses layers. It handles waiting, nesting and errors of regions, alike for all
/// layers.
class task_layer {
 public:
  virtual ~task_layer() = default;
  /// Calls call(task) once for each task, with task 0 on the calling thread, and returns when all
  /// tasks have ended. `call` does not throw. Any thread may start a region, one at a time.
  virtual void run(task_call call) = 0;
};

/// The CPUs of each task: one of `options.cpus` if tasks are pinned, evenly spread over them, else
/// all of these. Empty `options.cpus` stand for the CPUs of the calling thread. A thread inherits
/// the binding of its creator, so the threads of a pinned rank need their CPUs in both cases.
[[nodiscard]] std::vector<std::vector<int>> cpus_of_tasks(const task_options& options);

/// Binds the calling thread, which is task 0, while the object lives; only if tasks are pinned.
class task_0_binding {
 public:
  task_0_binding(const task_options& options, const std::vector<std::vector<int>>& cpus);

 private:
  std::optional<pinned> binding_;
};

}  // namespace longshore::detail

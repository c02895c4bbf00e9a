// What a tasking layer is underneath: something that runs one function once per task, at the same
// time.
#pragma once

#include <longshore/machine/affinity.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

struct task_options {
  std::string layer = "serial";  ///< "serial", "threads", "openmp", "tbb"
  int count = 1;                 ///< tasks, the calling thread among them; "serial" is one
  /// CPUs that the tasks may use (team::cpus()); empty: those of the calling thread
  std::span<const int> cpus = {};
  bool pin = false;  ///< bind each task to one of `cpus`, evenly spread over them
  /// false where tasks outnumber cores (team::waiting().spin): idle tasks give their core away at
  /// once
  bool spin = true;
  /// A region that is started inside a task of others: false runs its pieces one after the other in
  /// that task, so that never more tasks run than were made for the outer region; true runs it as
  /// any other where these tasks are not busy.
  bool nested = false;
};

/// A function with its context, called as function(context, task).
struct task_call {
  void (*function)(void* context, int task);
  void* context;
};

/// One virtual call per parallel region; what runs inside is inlined into `function`. Only `tasks`
/// calls it: what a region needs on every layer (turns, nesting, errors) is done there.
class task_layer {
 public:
  virtual ~task_layer() = default;
  /// Calls call(task) once for each task, 0 on the calling thread, and returns when all have ended.
  /// `call` does not throw. One region at a time, by any thread.
  virtual void run(task_call call) = 0;
};

/// CPUs of one task of `count`: one of `cpus` when pinned, evenly spread, else all of them. A
/// thread inherits the binding of the one that starts it, so that threads of a pinned rank have to
/// be given their CPUs in any case.
[[nodiscard]] std::vector<int> cpus_of_task(std::span<const int> cpus, int task, int count,
                                            bool pin);

/// The same for each task; without `options.cpus` of those that the calling thread may use.
[[nodiscard]] std::vector<std::vector<int>> cpus_of_tasks(const task_options& options);

/// Binds the calling thread, task 0 of pinned tasks, while the object lives; nothing when not
/// pinned.
class task_0_binding {
 public:
  task_0_binding(const task_options& options, const std::vector<std::vector<int>>& cpus);

 private:
  std::optional<pinned> binding_;
};

}  // namespace longshore

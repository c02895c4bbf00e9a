// What a tasking layer is underneath: something that runs one function once per task, at the same time.
#pragma once

#include <span>
#include <string>

namespace longshore {

struct task_options {
  std::string layer = "serial";    ///< "serial", "threads"
  int count = 1;                   ///< tasks, the calling thread among them; "serial" is one
  std::span<const int> cpus = {};  ///< CPUs that the tasks may use (team::cpus()); empty: those of the calling thread
  bool pin = false;                ///< bind each task to one of `cpus`, evenly spread over them
  bool spin = true;  ///< false where tasks outnumber cores (team::waiting().spin): idle tasks give their core away at once
};

/// A function with its context, called as function(context, task).
struct task_call {
  void (*function)(void* context, int task);
  void* context;
};

/// One virtual call per parallel region; what runs inside is inlined into `function`.
class task_layer {
 public:
  virtual ~task_layer() = default;
  /// Calls call(task) for each task, 0 on the calling thread, and returns when all have ended. The first exception that a task
  /// threw is thrown again here. Not to be called from inside a task.
  virtual void run(task_call call) = 0;
};

}  // namespace longshore

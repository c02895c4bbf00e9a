// A parallel region of any tasking layer: nesting, the number of running tasks, and exceptions.
// Class `tasks` uses this file.
#pragma once

#include <longshore/machine/detail/task_layer.hpp>

#include <atomic>
#include <exception>
#include <mutex>

namespace longshore::detail {

/// What the parallel regions of one `tasks` object share.
struct task_region_state {
  std::mutex busy;  // held while a region runs on the layer
  // Tasks inside a region. Changes only when a region begins or ends, so that tasks exchange no
  // cache lines.
  std::atomic<int> running = 0;
};

/// One region, on the stack of the thread that starts the region. Each task knows its region, and
/// each region knows the region inside which it started. This chain shows how tasks are nested.
class task_region {
 public:
  task_region(task_region_state& owner, region_body body) noexcept;
  task_region(const task_region&) = delete;
  task_region& operator=(const task_region&) = delete;

  [[nodiscard]] bool is_nested() const noexcept { return outer_ != nullptr; }
  /// Whether the region was started inside a task of its own `tasks` object.
  [[nodiscard]] bool is_nested_in_its_owner() const noexcept;

  /// Runs all tasks on the layer. REQUIRES: the caller holds owner.busy.
  void run_on(task_layer& layer, int count);
  /// Runs all tasks one after the other in the calling thread.
  void run_here(int count);
  /// Rethrows the first exception of a task, if any.
  void rethrow();

 private:
  static void run_task(void* region, int task) noexcept;

  task_region_state& owner_;
  const region_body body_;
  const task_region* const outer_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // written by the task that set failed_; read after all tasks ended
};

}  // namespace longshore::detail

// A parallel region, alike on every tasking layer: who may start it, how many tasks are inside, and
// the first exception of its tasks.
#pragma once

#include <longshore/machine/detail/task_layer.hpp>

#include <atomic>
#include <exception>
#include <mutex>

namespace longshore::detail {

/// State of one `tasks` object that its regions share.
class region_state {
 public:
  std::mutex busy;  // held while a region runs on the layer
  // Tasks inside a region. Changes only at the ends of a region, so that it costs no traffic
  // between tasks.
  std::atomic<int> running = 0;
};

/// One region, on the stack of the thread that starts it. Every task knows its region, and a region
/// knows the one in which it was started. This chain shows which tasks are nested in which.
class task_region {
 public:
  task_region(region_state& owner, task_call call) noexcept;
  task_region(const task_region&) = delete;
  task_region& operator=(const task_region&) = delete;

  /// Whether the region was started inside a task of any `tasks` object.
  [[nodiscard]] bool is_nested() const noexcept { return outer_ != nullptr; }
  /// Whether it was started inside a task of its own `tasks` object.
  [[nodiscard]] bool is_nested_in_its_owner() const noexcept;

  /// Runs all tasks on the layer. REQUIRES: the caller holds owner.busy.
  void run_on(task_layer& layer, int count);
  /// Runs all tasks one after the other in the calling thread.
  void run_here(int count);
  /// Rethrows the first exception of a task, if any.
  void rethrow();

 private:
  static void run_task(void* region, int task) noexcept;

  region_state& owner_;
  const task_call call_;
  const task_region* const outer_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // written by the task that set failed_; read when all have ended
};

}  // namespace longshore::detail

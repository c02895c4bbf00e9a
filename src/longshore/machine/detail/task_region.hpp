// What a parallel region is on every tasking layer: who may start it now, how many tasks are
// inside, and what went wrong in them.
#pragma once

#include <longshore/machine/task_layer.hpp>

#include <atomic>
#include <exception>
#include <mutex>

namespace longshore::detail {

/// Of one tasks object: whose turn it is, and how many of its tasks are inside a region.
class turns {
 public:
  std::mutex busy;  // held while a region runs on the layer
  // changed only at the ends of a region, so that a region costs no traffic between its tasks
  std::atomic<int> running = 0;
};

/// One region, on the stack of the thread that starts it. Every task knows the region that it is
/// in, and a region the one that it was started in: that chain says which tasks are nested in
/// which.
class task_region {
 public:
  task_region(turns& owner, task_call call) noexcept;
  task_region(const task_region&) = delete;
  task_region& operator=(const task_region&) = delete;

  /// True when it was started inside a task of any tasks; and of its owner's.
  [[nodiscard]] bool is_nested() const noexcept { return outer_ != nullptr; }
  [[nodiscard]] bool is_nested_in_its_owner() const noexcept;

  /// Runs all pieces on the layer; the caller holds owner.busy.
  void run_on(task_layer& layer, int count);
  /// Runs all pieces one after the other in the calling thread.
  void run_here(int count);
  /// Throws again what a task threw first.
  void rethrow();

 private:
  static void run_task(void* region, int task) noexcept;

  turns& owner_;
  const task_call call_;
  const task_region* const outer_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // of the task that set failed_; read when all have ended
};

}  // namespace longshore::detail

// Runs one parallel region. Each thread knows the region of the task that it runs, so a region that
// starts inside a task knows its outer regions. The first exception of a task is kept for the
// caller.
#include <longshore/machine/detail/task_region.hpp>

#include <utility>

namespace longshore::detail {
namespace {

// The region of the task that this thread runs; null outside of tasks.
thread_local const task_region* current_region = nullptr;

// Adds `count` to the number of running tasks while the object lives.
class running_tasks {
 public:
  running_tasks(std::atomic<int>& running, int count) noexcept : running_(running), count_(count) {
    running_.fetch_add(count_);
  }
  ~running_tasks() { running_.fetch_sub(count_); }
  running_tasks(const running_tasks&) = delete;
  running_tasks& operator=(const running_tasks&) = delete;

 private:
  std::atomic<int>& running_;
  int count_;
};

}  // namespace

task_region::task_region(task_region_state& owner, region_body body) noexcept
    : owner_(owner), body_(body), outer_(current_region) {}

bool task_region::is_nested_in_its_owner() const noexcept {
  for (const task_region* outer = outer_; outer != nullptr; outer = outer->outer_)
    if (&outer->owner_ == &owner_) return true;
  return false;
}

void task_region::run_task(void* context, int task) noexcept {
  auto& region = *static_cast<task_region*>(context);
  const task_region* const outer = std::exchange(current_region, &region);
  try {
    region.body_(task);
  } catch (...) {
    if (!region.failed_.exchange(true)) region.error_ = std::current_exception();
  }
  current_region = outer;
}

void task_region::run_on(task_layer& layer, int count) {
  const running_tasks counted(owner_.running, count);
  layer.run({&task_region::run_task, this});
}

void task_region::run_here(int count) {
  const running_tasks counted(owner_.running, is_nested_in_its_owner() ? 0 : 1);
  for (int task = 0; task < count; ++task) run_task(this, task);
}

void task_region::rethrow() {
  if (error_) std::rethrow_exception(std::move(error_));
}

}  // namespace longshore::detail

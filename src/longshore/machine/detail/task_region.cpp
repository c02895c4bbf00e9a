#include <longshore/machine/detail/task_region.hpp>

#include <utility>

namespace longshore::detail {
namespace {

// The region of the task that this thread runs. run_task sets it, and restores it when the task
// ends.
thread_local const task_region* innermost = nullptr;

// Adds to the number of running tasks while it lives.
class counted {
 public:
  counted(std::atomic<int>& running, int count) noexcept : running_(running), count_(count) {
    running_.fetch_add(count_);
  }
  ~counted() { running_.fetch_sub(count_); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  std::atomic<int>& running_;
  int count_;
};

}  // namespace

task_region::task_region(region_state& owner, task_call call) noexcept
    : owner_(owner), call_(call), outer_(innermost) {}

bool task_region::is_nested_in_its_owner() const noexcept {
  for (const task_region* around = outer_; around != nullptr; around = around->outer_)
    if (&around->owner_ == &owner_) return true;
  return false;
}

void task_region::run_task(void* context, int task) noexcept {
  auto& region = *static_cast<task_region*>(context);
  const task_region* const before = std::exchange(innermost, &region);
  try {
    region.call_.function(region.call_.context, task);
  } catch (...) {
    if (!region.failed_.exchange(true)) region.error_ = std::current_exception();
  }
  innermost = before;
}

void task_region::run_on(task_layer& layer, int count) {
  const counted inside(owner_.running, count);
  layer.run({&task_region::run_task, this});
}

void task_region::run_here(int count) {
  const counted inside(owner_.running, is_nested_in_its_owner() ? 0 : 1);
  for (int task = 0; task < count; ++task) run_task(this, task);
}

void task_region::rethrow() {
  if (error_) std::rethrow_exception(std::move(error_));
}

}  // namespace longshore::detail

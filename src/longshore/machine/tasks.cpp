// Starts regions on a tasking layer, or in the calling thread if the region is nested or the layer
// is serial. Each thread knows the region of the task that it runs, so a region that starts inside
// a task knows its outer regions.
#include <longshore/machine/tasks.hpp>

#include <longshore/core/clock.hpp>
#include <longshore/machine/detail/task_layer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace longshore {
namespace detail {

namespace {

class task_region;
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

// One region, on the stack of the thread that starts the region. Each task knows its region, and
// each region knows the region inside which it started. This chain shows how tasks are nested.
class task_region {
 public:
  task_region(task_region_state& owner, region_body body) noexcept
      : owner_(owner), body_(body), outer_(current_region) {}
  task_region(const task_region&) = delete;
  task_region& operator=(const task_region&) = delete;

  [[nodiscard]] bool is_nested() const noexcept { return outer_ != nullptr; }
  // Whether the region was started inside a task of its own `tasks` object.
  [[nodiscard]] bool is_nested_in_its_owner() const noexcept;

  // Runs all tasks on the layer. REQUIRES: the caller holds owner.busy.
  void run_on(task_layer& layer, int count);
  // Runs all tasks one after the other in the calling thread.
  void run_here(int count);
  // Rethrows the first exception of a task, if any.
  void rethrow() {
    if (error_) std::rethrow_exception(std::move(error_));
  }

 private:
  static void run_task(void* region, int task) noexcept;

  task_region_state& owner_;
  const region_body body_;
  const task_region* const outer_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // written by the task that set failed_; read after all tasks ended
};

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

}  // namespace

}  // namespace detail

tasks::tasks() : regions_(std::make_unique<detail::task_region_state>()) {}

tasks::~tasks() = default;
tasks::tasks(tasks&&) noexcept = default;
tasks& tasks::operator=(tasks&&) noexcept = default;

int tasks::running() const noexcept { return regions_->running; }

void tasks::start(detail::region_body body) {
  detail::task_region region(*regions_, body);
  // A nested region must not wait for the lock: tasks that start each other's regions would
  // deadlock.
  std::unique_lock lock(regions_->busy, std::defer_lock);
  if (region.is_nested()) {
    if (nested_ && layer_ && !region.is_nested_in_its_owner()) static_cast<void>(lock.try_lock());
  } else {
    lock.lock();
  }
  if (lock && layer_)
    region.run_on(*layer_, count_);
  else
    region.run_here(count_);
  if (lock) lock.unlock();
  region.rethrow();
}

double empty_region_seconds(tasks& workers) {
  constexpr int warm_ups = 20;
  std::array<double, 301> seconds;  // an odd number of samples has a middle one, the median
  for (int i = 0; i < warm_ups; ++i) workers.run([](int) {});
  for (double& duration : seconds) {
    const double start = monotonic_seconds();
    workers.run([](int) {});
    duration = monotonic_seconds() - start;
  }
  std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
  return seconds[seconds.size() / 2];
}

}  // namespace longshore

// Checks the options of tasks, and makes the tasking layer. Starts regions on the layer, or in the
// calling thread if the region is nested or the layer is serial. Each thread knows the region of
// the task that it runs, so a region that starts inside a task knows its outer regions.
#include <longshore/machine/tasks.hpp>

#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/task_layer.hpp>
#include <longshore/machine/detail/thread_pool.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace longshore {
namespace detail {

// What the parallel regions of one `tasks` object share.
struct task_region_state {
  std::mutex busy;  // held while a region runs on the layer
  // Tasks inside a region. Changes only when a region begins or ends, so that tasks exchange no
  // cache lines.
  std::atomic<int> running = 0;
};

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

#ifndef LONGSHORE_HAVE_OPENMP
std::optional<std::string> why_no_openmp_tasks(int) {
  return "tasks openmp: this build has no OpenMP: install it for your compiler (part of g++; "
         "Debian's clang needs libomp-dev) and build Longshore again, with LONGSHORE_OPENMP=ON";
}
std::unique_ptr<task_layer> make_openmp_tasks(const task_options&) {
  fail(errc::unsupported, "{}", *why_no_openmp_tasks(0));
}
#endif
#ifndef LONGSHORE_HAVE_TBB
std::optional<std::string> why_no_tbb_tasks() {
  return "tasks tbb: this build has no oneTBB: install it (Debian: libtbb-dev) and build Longshore "
         "again, with LONGSHORE_TBB=ON";
}
std::unique_ptr<task_layer> make_tbb_tasks(const task_options&) {
  fail(errc::unsupported, "{}", *why_no_tbb_tasks());
}
#endif

}  // namespace detail

namespace {

constexpr int max_tasks = 4096;

bool is_known(std::string_view layer) {
  const auto names = task_layer_names();
  return std::ranges::find(names, layer) != names.end();
}

// Why this machine or build cannot run `count` tasks of a known layer.
std::optional<std::string> why_no_layer(std::string_view layer, int count) {
  if (layer == "openmp") return detail::why_no_openmp_tasks(count);
  if (layer == "tbb") return detail::why_no_tbb_tasks();
  return std::nullopt;
}

std::unique_ptr<detail::task_layer> make_layer(const task_options& options) {
  if (options.layer == "threads") return std::make_unique<detail::thread_pool>(options);
  if (options.layer == "openmp") return detail::make_openmp_tasks(options);
  if (options.layer == "tbb") return detail::make_tbb_tasks(options);
  return nullptr;
}

}  // namespace

std::vector<std::string> task_layer_names() { return {"serial", "threads", "openmp", "tbb"}; }

std::optional<std::string> why_no_tasks(std::string_view layer, int count) {
  if (!is_known(layer))
    return fmt::format("unknown tasking layer '{}': use serial, threads, openmp or tbb", layer);
  if (count < 0 || count > max_tasks)
    return fmt::format("{} tasks: give 1 to {}", count, max_tasks);
  if (layer == "serial" && count > 1)
    return fmt::format("the layer serial has 1 task, not {}: use threads", count);
  return why_no_layer(layer, count);
}

tasks::tasks() : regions_(std::make_unique<detail::task_region_state>()) {}

tasks::tasks(const task_options& options)
    : name_(options.layer),
      count_(options.count),
      nested_(options.nested),
      regions_(std::make_unique<detail::task_region_state>()) {
  if (options.count < 1) fail(errc::usage, "{} tasks: give 1 to {}", options.count, max_tasks);
  if (const auto reason = why_no_tasks(options.layer, options.count)) {
    const bool is_missing =
        is_known(options.layer) && why_no_layer(options.layer, options.count) == reason;
    fail(is_missing ? errc::unsupported : errc::usage, "{}", *reason);
  }
  layer_ = make_layer(options);
}

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

// The only file that is compiled with OpenMP. This file and OpenMP's library are not instrumented
// for ThreadSanitizer (see thread_sanitizer.cpp).
#include <longshore/machine/detail/task_layer.hpp>

#include <fmt/core.h>
#include <omp.h>

#include <thread>

namespace longshore::detail {
namespace {

// Changes OpenMP's settings of the calling thread so that a region gets all its threads. The
// destructor restores the settings.
class full_team_settings {
 public:
  explicit full_team_settings(bool nested) noexcept
      : dynamic_(omp_get_dynamic()), levels_(omp_get_max_active_levels()) {
    if (dynamic_ != 0) omp_set_dynamic(0);
    if (nested && omp_get_active_level() >= levels_)
      omp_set_max_active_levels(omp_get_active_level() + 1);
  }
  ~full_team_settings() {
    if (dynamic_ != 0) omp_set_dynamic(dynamic_);
    if (omp_get_max_active_levels() != levels_) omp_set_max_active_levels(levels_);
  }
  full_team_settings(const full_team_settings&) = delete;
  full_team_settings& operator=(const full_team_settings&) = delete;

 private:
  int dynamic_, levels_;
};

// The last CPUs to which this thread of OpenMP was bound. The `tasks` objects of one calling thread
// share OpenMP's threads.
thread_local std::vector<int> bound_cpus;

void bind_to(const std::vector<int>& cpus) {
  if (bound_cpus == cpus) return;
  bind_this_thread(cpus);
  bound_cpus = cpus;
}

// All tasks run at the same time. For one calling thread, task i is always on the same thread.
// OpenMP keeps separate threads for each calling thread. So ranks that are threads never share
// OpenMP's threads, and a caller other than the constructing thread uses additional threads.
//
// Idle threads of GNU's OpenMP spin for milliseconds, or less if threads outnumber CPUs. A running
// program cannot change this. Set OMP_WAIT_POLICY=passive (sleep at once) before the start if
// ranks or other tasks need the cores between regions.
//
// Threads get their CPUs at their first region. If OMP_PROC_BIND is set and tasks are not pinned,
// OpenMP's own placement stays. Inside a parallel region of the user's own OpenMP, the rules of
// OpenMP apply: without task_options::nested all parts run in the calling thread.
class openmp_tasks final : public task_layer {
 public:
  explicit openmp_tasks(const task_options& options)
      : nested_(options.nested),
        pin_(options.pin),
        cpus_(cpus_of_tasks(options)),
        task_0_binding_(options, cpus_) {
    if (pin_)
      all_cpus_ = options.cpus.empty() ? constructor_cpus_
                                       : std::vector<int>(options.cpus.begin(), options.cpus.end());
  }

  // Gives the threads, which OpenMP keeps, all CPUs back. Only the constructing thread can reach
  // them, because OpenMP has separate threads for each calling thread.
  ~openmp_tasks() override {
    if (!pin_ || !started_ || std::this_thread::get_id() != constructor_thread_ ||
        omp_in_parallel() != 0)
      return;
    region([&](int) {
      if (omp_get_thread_num() > 0) bind_to(all_cpus_);
    });
  }

  void run(region_body body) override {
    const full_team_settings settings(nested_);
    const bool must_bind = pin_ || omp_get_proc_bind() == omp_proc_bind_false;
    started_ = true;
    region([&](int task) {
      if (must_bind && omp_get_thread_num() > 0) bind_to(cpus_[static_cast<std::size_t>(task)]);
      body(task);
    });
  }

 private:
  template <class Body>
  void region(const Body& body) {
    annotate_release(this);
#pragma omp parallel num_threads(count())
    {
      annotate_acquire(this);
      // Each thread runs one task, or several tasks if OpenMP gave fewer threads.
      for (int task = omp_get_thread_num(); task < count(); task += omp_get_num_threads())
        body(task);
      annotate_release(this);
    }
    annotate_acquire(this);
  }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(cpus_.size()); }

  const std::thread::id constructor_thread_ = std::this_thread::get_id();
  const std::vector<int> constructor_cpus_ = allowed_cpus();
  bool nested_, pin_, started_ = false;
  std::vector<std::vector<int>> cpus_;
  std::vector<int> all_cpus_;
  task_0_binding task_0_binding_;
};

std::optional<std::string> why_none(int count) {
  if (count > omp_get_thread_limit())
    return fmt::format("{} tasks of openmp: OMP_THREAD_LIMIT allows {}", count,
                       omp_get_thread_limit());
  return std::nullopt;
}

std::unique_ptr<task_layer> make(const task_options& options) {
  return std::make_unique<openmp_tasks>(options);
}

}  // namespace

}  // namespace longshore::detail

const longshore::detail::task_layer_entry entry_of_longshore_openmp = {
    .why_none = longshore::detail::why_none, .make = longshore::detail::make};

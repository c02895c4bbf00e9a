// The only file that is compiled with OpenMP. Not instrumented for ThreadSanitizer, as OpenMP's
// library is not: thread_sanitizer.hpp.
#include <longshore/machine/detail/openmp_tasks.hpp>
#include <longshore/machine/detail/thread_sanitizer.hpp>

#include <fmt/core.h>
#include <omp.h>

#include <thread>

namespace longshore::detail {
namespace {

// What OpenMP keeps per calling thread about the number of threads it grants; set for one region,
// then given back.
class granted_in_full {
 public:
  explicit granted_in_full(bool nested) noexcept
      : dynamic_(omp_get_dynamic()), levels_(omp_get_max_active_levels()) {
    if (dynamic_ != 0) omp_set_dynamic(0);
    if (nested && omp_get_active_level() >= levels_)
      omp_set_max_active_levels(omp_get_active_level() + 1);
  }
  ~granted_in_full() {
    if (dynamic_ != 0) omp_set_dynamic(dynamic_);
    if (omp_get_max_active_levels() != levels_) omp_set_max_active_levels(levels_);
  }
  granted_in_full(const granted_in_full&) = delete;
  granted_in_full& operator=(const granted_in_full&) = delete;

 private:
  int dynamic_, levels_;
};

// CPUs that this thread of OpenMP was given last, by any tasks: threads are shared by all tasks of
// a calling thread.
thread_local std::vector<int> given_cpus;

void give_cpus(const std::vector<int>& cpus) {
  if (given_cpus == cpus) return;
  bind_this_thread(cpus);
  given_cpus = cpus;
}

class openmp_tasks final : public task_layer {
 public:
  explicit openmp_tasks(const task_options& options)
      : nested_(options.nested),
        pin_(options.pin),
        cpus_(cpus_of_tasks(options)),
        own_binding_(options, cpus_) {
    if (pin_)
      all_cpus_ = options.cpus.empty() ? before_
                                       : std::vector<int>(options.cpus.begin(), options.cpus.end());
  }

  // Threads that stay with OpenMP are not left on one CPU each.
  ~openmp_tasks() override {
    if (!pin_ || !started_ || std::this_thread::get_id() != maker_ || omp_in_parallel() != 0)
      return;
    region([&](int) {
      if (omp_get_thread_num() > 0) give_cpus(all_cpus_);
    });
  }

  void run(task_call call) override {
    const granted_in_full grant(nested_);
    const bool give = pin_ || omp_get_proc_bind() == omp_proc_bind_false;
    started_ = true;
    region([&](int task) {
      if (give && omp_get_thread_num() > 0) give_cpus(cpus_[static_cast<std::size_t>(task)]);
      call.function(call.context, task);
    });
  }

 private:
  template <class Body>
  void region(const Body& body) {
    tell_release(this);
#pragma omp parallel num_threads(count())
    {
      tell_acquire(this);
      // A task each, unless OpenMP gave fewer threads: nothing may be left out.
      for (int task = omp_get_thread_num(); task < count(); task += omp_get_num_threads())
        body(task);
      tell_release(this);
    }
    tell_acquire(this);
  }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(cpus_.size()); }

  const std::thread::id maker_ = std::this_thread::get_id();
  const std::vector<int> before_ = allowed_cpus();
  bool nested_, pin_, started_ = false;
  std::vector<std::vector<int>> cpus_;
  std::vector<int> all_cpus_;
  task_0_binding own_binding_;
};

}  // namespace

std::optional<std::string> why_no_openmp_tasks(int count) {
  if (count > omp_get_thread_limit())
    return fmt::format("{} tasks of openmp: OMP_THREAD_LIMIT allows {}", count,
                       omp_get_thread_limit());
  return std::nullopt;
}

std::unique_ptr<task_layer> make_openmp_tasks(const task_options& options) {
  return std::make_unique<openmp_tasks>(options);
}

}  // namespace longshore::detail

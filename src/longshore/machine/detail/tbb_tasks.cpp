// Not instrumented for ThreadSanitizer, as oneTBB's library is not: thread_sanitizer.hpp.
#include <longshore/machine/detail/tbb_tasks.hpp>
#include <longshore/machine/detail/thread_sanitizer.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace longshore::detail {
namespace {

// Binds workers to the CPUs of their place while they are in the arena. The caller's binding is not
// its business.
class binder final : public tbb::task_scheduler_observer {
 public:
  binder(tbb::task_arena& arena, const std::vector<std::vector<int>>& cpus)
      : tbb::task_scheduler_observer(arena), places_(cpus.size()) {
    for (std::size_t place = 0; place < cpus.size(); ++place) places_[place].cpus = cpus[place];
    tell_release(this);
    observe(true);
  }
  // Workers that are still in the arena leave it unseen: they are given their CPUs back from here.
  ~binder() override {
    observe(false);
    tell_acquire(this);
    for (const auto& place : places_)
      if (place.worker != 0) bind_thread(place.worker, place.before);
  }

  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    tell_acquire(this);
    if (seat* const here = my_seat()) {
      here->before = allowed_cpus();
      here->worker = static_cast<int>(syscall(SYS_gettid));
      bind_this_thread(here->cpus);
    }
    tell_release(this);
  }
  void on_scheduler_exit(bool is_worker) override {
    if (!is_worker) return;
    tell_acquire(this);
    if (seat* const here = my_seat(); here != nullptr && here->worker != 0) {
      bind_this_thread(here->before);
      here->worker = 0;
    }
    tell_release(this);
  }

 private:
  struct seat {
    std::vector<int> cpus, before;  // before: of the worker that is there now
    int worker = 0;
  };
  seat* my_seat() noexcept {
    const auto place = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    return place < places_.size() ? &places_[place] : nullptr;
  }

  std::vector<seat> places_;
};

// oneTBB takes the smallest of all wishes that exist, so they must be alike: each object asks for
// what many of them need together.
std::size_t wished_threads(int count) { return static_cast<std::size_t>(std::max(count, 256)); }

class tbb_tasks final : public task_layer {
 public:
  explicit tbb_tasks(const task_options& options)
      : count_(options.count),
        cpus_(cpus_of_tasks(options)),
        allow_(tbb::global_control::max_allowed_parallelism, wished_threads(count_)),
        arena_(count_, 1),
        binder_(arena_, cpus_),
        own_binding_(options, cpus_) {}

  void run(task_call call) override {
    tell_release(this);
    arena_.execute([&] {
      // Isolated: what is cancelled around this region must not leave out its tasks.
      tbb::task_group_context context(tbb::task_group_context::isolated);
      const auto piece = [&](int task) {
        tell_acquire(this);
        call.function(call.context, task);
        tell_release(this);
      };
      tbb::parallel_for(0, count_, piece, tbb::static_partitioner(), context);
    });
    tell_acquire(this);
  }

 private:
  int count_;
  std::vector<std::vector<int>> cpus_;
  tbb::global_control allow_;
  tbb::task_arena arena_;
  binder binder_;
  task_0_binding own_binding_;
};

}  // namespace

std::optional<std::string> why_no_tbb_tasks() { return std::nullopt; }

std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options) {
  return std::make_unique<tbb_tasks>(options);
}

}  // namespace longshore::detail

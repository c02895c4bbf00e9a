// Like oneTBB's library, this file is not instrumented for ThreadSanitizer (see
// thread_sanitizer.hpp).
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

// Binds workers to the CPUs of their slot while they are in the arena. It leaves the caller's
// binding alone.
class worker_binder final : public tbb::task_scheduler_observer {
 public:
  worker_binder(tbb::task_arena& arena, const std::vector<std::vector<int>>& cpus)
      : tbb::task_scheduler_observer(arena), slots_(cpus.size()) {
    for (std::size_t index = 0; index < cpus.size(); ++index) slots_[index].cpus = cpus[index];
    annotate_release(this);
    observe(true);
  }
  // Workers that are still in the arena will leave it without on_scheduler_exit, so they get their
  // CPUs back here.
  ~worker_binder() override {
    observe(false);
    annotate_acquire(this);
    for (const auto& each : slots_)
      if (each.worker != 0) bind_thread(each.worker, each.before);
  }

  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    annotate_acquire(this);
    if (slot* const here = my_slot()) {
      here->before = allowed_cpus();
      here->worker = static_cast<int>(syscall(SYS_gettid));
      bind_this_thread(here->cpus);
    }
    annotate_release(this);
  }
  void on_scheduler_exit(bool is_worker) override {
    if (!is_worker) return;
    annotate_acquire(this);
    if (slot* const here = my_slot(); here != nullptr && here->worker != 0) {
      bind_this_thread(here->before);
      here->worker = 0;
    }
    annotate_release(this);
  }

 private:
  struct slot {
    std::vector<int> cpus, before;  // before: the worker's CPUs when it entered
    int worker = 0;
  };
  slot* my_slot() noexcept {
    const auto index = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    return index < slots_.size() ? &slots_[index] : nullptr;
  }

  std::vector<slot> slots_;
};

// oneTBB applies the smallest of all requests that exist, so all objects must request the same
// number: one that suffices for many of them together.
std::size_t requested_threads(int count) { return static_cast<std::size_t>(std::max(count, 256)); }

class tbb_tasks final : public task_layer {
 public:
  explicit tbb_tasks(const task_options& options)
      : count_(options.count),
        cpus_(cpus_of_tasks(options)),
        allow_(tbb::global_control::max_allowed_parallelism, requested_threads(count_)),
        arena_(count_, 1),
        binder_(arena_, cpus_),
        own_binding_(options, cpus_) {}

  void run(task_call call) override {
    annotate_release(this);
    arena_.execute([&] {
      // Isolated: a cancelled outer group must not skip tasks of this region.
      tbb::task_group_context context(tbb::task_group_context::isolated);
      const auto piece = [&](int task) {
        annotate_acquire(this);
        call.function(call.context, task);
        annotate_release(this);
      };
      tbb::parallel_for(0, count_, piece, tbb::static_partitioner(), context);
    });
    annotate_acquire(this);
  }

 private:
  int count_;
  std::vector<std::vector<int>> cpus_;
  tbb::global_control allow_;
  tbb::task_arena arena_;
  worker_binder binder_;
  task_0_binding own_binding_;
};

}  // namespace

std::optional<std::string> why_no_tbb_tasks() { return std::nullopt; }

std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options) {
  return std::make_unique<tbb_tasks>(options);
}

}  // namespace longshore::detail

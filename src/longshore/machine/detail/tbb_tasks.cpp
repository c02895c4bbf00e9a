// This file and oneTBB's library are not instrumented for ThreadSanitizer (see
// thread_sanitizer.cpp).
#include <longshore/machine/detail/task_layer.hpp>

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

// Binds workers to the CPUs of their slot while the workers are in the arena. Does not change the
// binding of the caller.
class worker_binder final : public tbb::task_scheduler_observer {
 public:
  worker_binder(tbb::task_arena& arena, const std::vector<std::vector<int>>& cpus)
      : tbb::task_scheduler_observer(arena), slots_(cpus.size()) {
    for (std::size_t index = 0; index < cpus.size(); ++index) slots_[index].cpus = cpus[index];
    annotate_release(this);
    observe(true);
  }
  // Workers that are still in the arena get their CPUs back here: after observe(false) no
  // on_scheduler_exit is called.
  ~worker_binder() override {
    observe(false);
    annotate_acquire(this);
    for (const auto& slot : slots_)
      if (slot.worker_id != 0) bind_thread(slot.worker_id, slot.original_cpus);
  }

  void on_scheduler_entry(bool is_worker) override {
    if (!is_worker) return;
    annotate_acquire(this);
    if (arena_slot* const slot = current_slot()) {
      slot->original_cpus = allowed_cpus();
      slot->worker_id = static_cast<int>(syscall(SYS_gettid));
      bind_this_thread(slot->cpus);
    }
    annotate_release(this);
  }
  void on_scheduler_exit(bool is_worker) override {
    if (!is_worker) return;
    annotate_acquire(this);
    if (arena_slot* const slot = current_slot(); slot != nullptr && slot->worker_id != 0) {
      bind_this_thread(slot->original_cpus);
      slot->worker_id = 0;
    }
    annotate_release(this);
  }

 private:
  struct arena_slot {
    std::vector<int> cpus, original_cpus;  // the CPUs of the slot; of the worker before it entered
    int worker_id = 0;                     // the kernel's thread id; 0 without a bound worker
  };
  arena_slot* current_slot() noexcept {
    const auto index = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    return index < slots_.size() ? &slots_[index] : nullptr;
  }

  std::vector<arena_slot> slots_;
};

// oneTBB applies the smallest of all requests that exist. So all objects request the same large
// number, which suffices for many objects together.
std::size_t requested_threads(int count) { return static_cast<std::size_t>(std::max(count, 256)); }

// Each `tasks` object has an arena of oneTBB, and uses oneTBB's static partitioner. Task i runs in
// slot i of the arena if a worker of oneTBB enters the slot in time. Otherwise the task runs in
// another thread, maybe after another task.
//
// CPUs belong to slots: a worker is bound when it enters the arena, and gets its CPUs back when it
// leaves. While the object lives, oneTBB may use more threads than there are CPUs. oneTBB decides
// when idle workers leave; task_options::spin has no effect.
class tbb_tasks final : public task_layer {
 public:
  explicit tbb_tasks(const task_options& options)
      : count_(options.count),
        cpus_(cpus_of_tasks(options)),
        max_threads_(tbb::global_control::max_allowed_parallelism, requested_threads(count_)),
        arena_(count_, 1),
        binder_(arena_, cpus_),
        task_0_binding_(options, cpus_) {}

  void run(region_body body) override {
    annotate_release(this);
    arena_.execute([&] {
      // Isolated: a cancelled outer group must not skip tasks of this region.
      tbb::task_group_context context(tbb::task_group_context::isolated);
      const auto part = [&](int task) {
        annotate_acquire(this);
        body(task);
        annotate_release(this);
      };
      tbb::parallel_for(0, count_, part, tbb::static_partitioner(), context);
    });
    annotate_acquire(this);
  }

 private:
  int count_;
  std::vector<std::vector<int>> cpus_;
  tbb::global_control max_threads_;
  tbb::task_arena arena_;
  worker_binder binder_;
  task_0_binding task_0_binding_;
};

std::optional<std::string> why_none(int) { return std::nullopt; }

std::unique_ptr<task_layer> make(const task_options& options) {
  return std::make_unique<tbb_tasks>(options);
}

}  // namespace

}  // namespace longshore::detail

const longshore::detail::task_layer_entry entry_of_longshore_tbb = {
    .why_none = longshore::detail::why_none, .make = longshore::detail::make};

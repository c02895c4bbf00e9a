// Not instrumented for ThreadSanitizer, as oneTBB's library is not: see task_region.
#include <longshore/machine/tbb_tasks.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>

namespace longshore {
namespace {

// Binds workers to the CPUs of their place while they are in the arena. The caller's binding is not its business.
class binder final : public tbb::task_scheduler_observer {
 public:
  binder(tbb::task_arena& arena, const std::vector<std::vector<int>>& cpus)
      : tbb::task_scheduler_observer(arena), cpus_(cpus), before_(cpus.size()) {
    observe(true);
  }
  ~binder() override { observe(false); }

  void on_scheduler_entry(bool is_worker) override {
    const std::size_t place = my_place();
    if (!is_worker || place >= cpus_.size()) return;
    before_[place] = allowed_cpus();
    bind_this_thread(cpus_[place]);
  }
  void on_scheduler_exit(bool is_worker) override {
    const std::size_t place = my_place();
    if (is_worker && place < cpus_.size() && !before_[place].empty()) bind_this_thread(before_[place]);
  }

 private:
  static std::size_t my_place() noexcept { return static_cast<std::size_t>(tbb::this_task_arena::current_thread_index()); }

  const std::vector<std::vector<int>>& cpus_;
  std::vector<std::vector<int>> before_;  // of the worker that is at each place
};

// oneTBB takes the smallest of all wishes that exist, so they must be alike: each object asks for what many of them need together.
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
    arena_.execute([&] {
      // Isolated: what is cancelled around this region must not leave out its tasks.
      tbb::task_group_context context(tbb::task_group_context::isolated);
      tbb::parallel_for(
          0, count_, [&](int task) { call.function(call.context, task); }, tbb::static_partitioner(), context);
    });
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

std::unique_ptr<task_layer> make_tbb_tasks(const task_options& options) { return std::make_unique<tbb_tasks>(options); }

}  // namespace longshore

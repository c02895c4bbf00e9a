// Parallel loops of one rank, with a static partition over tasks. A tasking layer, chosen by name
// at run time, provides the threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace longshore {

struct task_options {
  std::string layer = "serial";  ///< "serial", "threads", "openmp" or "tbb"
  int count = 1;                 ///< number of tasks, including the calling thread; 1 for "serial"
  /// CPUs that the tasks may use, such as team::cpus(); if empty, the CPUs of the calling thread
  std::span<const int> cpus = {};
  bool pin = false;  ///< whether each task is bound to one of `cpus`, spread evenly
  /// Whether idle tasks spin. Use false if tasks outnumber cores (see team::waiting().spin): idle
  /// tasks then release their cores at once.
  bool spin = true;
  /// If true, and a task of another `tasks` object starts a region of this object, the region runs
  /// on the tasks of this object if they are free. Otherwise the parts of the region run one after
  /// the other in the task that started it, so no additional threads run.
  bool nested = false;
};

namespace detail {

/// The body of a parallel region without its type: a pointer to a function, and the context that
/// the function gets. The context must outlive the region.
struct region_body {
  void (*function)(void* context, int task);
  void* context;
  void operator()(int task) const { function(context, task); }
};

class task_layer;
struct task_region_state;

/// Makes static programs link all tasking layers of this build, and their libraries.
void link_task_layers() noexcept;
struct linked_layers {};
/// As why_no_tasks(), for the layers that the program links.
[[nodiscard]] std::optional<std::string> why_no_linked_tasks(std::string_view layer, int count);

}  // namespace detail

/// Names of all tasking layers, including those that this build does not have.
[[nodiscard]] std::vector<std::string> task_layer_names();

/// A sentence that says why `count` tasks of a layer are not available here; nothing if they are.
/// Count 0 stands for any number.
[[nodiscard]] inline std::optional<std::string> why_no_tasks(std::string_view layer,
                                                             int count = 0) {
  detail::link_task_layers();
  return detail::why_no_linked_tasks(layer, count);
}

struct index_range {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] constexpr std::size_t size() const noexcept { return end - begin; }
  friend constexpr bool operator==(const index_range&, const index_range&) noexcept = default;
};

/// Part `task` of [0, n) in `count` parts. Parts consist of whole units, except that the last unit
/// of [0, n) may be incomplete. The numbers of units of the parts differ by at most one.
[[nodiscard]] constexpr index_range static_share(std::size_t n, int task, int count,
                                                 std::size_t unit = 1) noexcept {
  const std::size_t units = n / unit + (n % unit != 0 ? 1 : 0),
                    parts = static_cast<std::size_t>(count), i = static_cast<std::size_t>(task);
  const std::size_t units_per_part = units / parts, remainder = units % parts;
  const auto begin_of = [&](std::size_t part) {
    const std::size_t first = part * units_per_part + (part < remainder ? part : remainder);
    return first == units ? n : first * unit;
  };
  return {begin_of(i), begin_of(i + 1)};
}

/// The tasks of one rank: threads that run the parallel regions of the rank's loops. The thread
/// that constructs the object must destroy it. Any thread may start a region. This thread is then
/// task 0 in place of the constructing thread, so count() parts always run on count() threads. If
/// two threads start regions of the same tasks, the second thread waits until the first region has
/// ended.
///
/// A nested region is a region that starts inside a task. The parts of a nested region run one
/// after the other in that task (see task_options::nested), so they must not wait for each other. A
/// nested region never waits for another region, so tasks that start each other's regions cannot
/// deadlock.
///
///     layer    tasks                                     cost of a region, idle threads
///     serial   the calling thread                        nothing
///     threads  own threads, all at the same time         about 1 us; idle threads spin for some
///                                                        50 us, then sleep
///     openmp   the team that OpenMP keeps for each       about 1 us; idle threads wait as set by
///              calling thread, all at the same time      OMP_WAIT_POLICY and GOMP_SPINCOUNT at
///                                                        program start; `spin` has no effect
///     tbb      an arena of their own; one thread may     about 1 us; an empty region may end
///              run several tasks, so bodies must not     before other threads of the arena wake
///              wait for each other across tasks          up
///
///     longshore::tasks workers({.layer = "threads", .count = 2, .cpus = team.cpus()});
///     workers.for_each_range(n, [&](std::size_t begin, std::size_t end) {
///       for (auto i = begin; i < end; ++i) a[i] = b[i];
///     });
class tasks {
 public:
  /// One task: the calling thread.
  tasks();
  /// Throws errc::usage for an unknown layer or an invalid count, errc::unsupported for a layer
  /// that this build does not have, errc::out_of_memory if threads cannot be started.
  explicit tasks(const task_options& options) : tasks(options, detail::linked_layers{}) {
    detail::link_task_layers();
  }
  /// As above, for the layers that the program links: "serial" and "threads", and those of
  /// detail::link_task_layers().
  tasks(const task_options& options, detail::linked_layers);
  ~tasks();
  tasks(tasks&&) noexcept;
  tasks& operator=(tasks&&) noexcept;

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] const std::string& layer() const noexcept { return name_; }

  /// Number of tasks that are inside a region now: count() while a region runs, 0 between regions.
  /// A nested region that runs in a task of another `tasks` object counts as one more task. A
  /// nested region inside a task of this object counts as none. Any thread may call this function.
  [[nodiscard]] int running() const noexcept;

  /// Calls body(task) once for each task, at the same time if the layer can. Returns when all tasks
  /// have ended, and rethrows the first exception of a task.
  template <std::invocable<int> Body>
  void run(Body&& body) {
    using body_type = std::remove_reference_t<Body>;
    start({[](void* context, int task) { (*static_cast<body_type*>(context))(task); },
           const_cast<std::remove_const_t<body_type>*>(std::addressof(body))});
  }

  /// Calls body(begin, end) in each task with the task's part of [0, n), see static_share. Tasks
  /// with an empty part make no call.
  template <std::invocable<std::size_t, std::size_t> Body>
  void for_each_range(std::size_t n, Body&& body, std::size_t unit = 1) {
    run([&](int task) {
      const index_range part = static_share(n, task, count_, unit);
      if (part.size() > 0) body(part.begin, part.end);
    });
  }

 private:
  void start(detail::region_body body);

  std::string name_ = "serial";
  int count_ = 1;
  bool nested_ = false;
  std::unique_ptr<detail::task_region_state> regions_;
  std::unique_ptr<detail::task_layer> layer_;  // null for "serial"
};

/// The median time, in seconds, of empty regions of these tasks. The measured regions follow each
/// other directly, so the threads of `workers` are awake. After a pause a region takes longer if
/// its threads have to wake up. With the layer tbb the result can be too small: the caller may
/// finish an empty region alone, before other threads wake up. The measurement takes at most some
/// milliseconds if each task has a core. Must not be called inside a task.
[[nodiscard]] double empty_region_seconds(tasks& workers);

}  // namespace longshore

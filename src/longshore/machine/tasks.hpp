// The tasks of a rank, and one parallel loop over them with a static partition. A tasking layer,
// chosen by name at run time, provides the threads.
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
  /// CPUs that the tasks may use (team::cpus()); empty: those of the calling thread
  std::span<const int> cpus = {};
  bool pin = false;  ///< bind each task to one of `cpus`, evenly spread over them
  /// Whether idle tasks spin. Set it to false if tasks outnumber cores (team::waiting().spin): idle
  /// tasks then release their core at once.
  bool spin = true;
  /// Decides how a region runs that is started inside a task of other tasks. false: piece by piece
  /// in that task, so that never more tasks run than the outer region has. true: on these tasks if
  /// they are free.
  bool nested = false;
};

namespace detail {

/// A function and its context, called as function(context, task).
struct task_call {
  void (*function)(void* context, int task);
  void* context;
};

class task_layer;
class region_state;

}  // namespace detail

/// Names of all tasking layers, including those that this build does not have.
[[nodiscard]] std::vector<std::string> task_layer_names();

/// Why this many tasks of a layer are not available here, as a sentence; nothing if they are. Count
/// 0 stands for any number.
[[nodiscard]] std::optional<std::string> why_no_tasks(std::string_view layer, int count = 0);

struct index_range {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] constexpr std::size_t size() const noexcept { return end - begin; }
  friend constexpr bool operator==(const index_range&, const index_range&) noexcept = default;
};

/// Part `task` of [0, n) in `count` parts whose sizes differ by at most one unit. Ends of parts are
/// multiples of `unit`, or n.
[[nodiscard]] constexpr index_range static_share(std::size_t n, int task, int count,
                                                 std::size_t unit = 1) noexcept {
  const std::size_t units = n / unit + (n % unit != 0 ? 1 : 0),
                    all = static_cast<std::size_t>(count), i = static_cast<std::size_t>(task);
  const std::size_t each = units / all, rest = units % all;
  const auto first = [&](std::size_t piece) {
    const std::size_t at = piece * each + (piece < rest ? piece : rest);
    return at == units ? n : at * unit;  // the last unit may be incomplete
  };
  return {first(i), first(i + 1)};
}

/// The tasks of one rank: threads that run the parallel regions of its loops. The thread that
/// constructs the object must destroy it. Any thread may start a region, and is then task 0 of it.
/// So a rank that starts a region on another rank's tasks replaces that rank's own thread, and
/// count() parts run on count() threads. If two threads start regions of the same tasks, the second
/// waits until the first region has ended.
///
/// A region that is started inside a task, of these or of other tasks, runs its parts one after the
/// other in that task (see task_options::nested). So bodies that may be nested must not wait for
/// each other across tasks. A nested region never waits for another region, so tasks that start
/// each other's regions cannot deadlock.
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
  explicit tasks(const task_options& options);
  ~tasks();
  tasks(tasks&&) noexcept;
  tasks& operator=(tasks&&) noexcept;

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] const std::string& layer() const noexcept { return name_; }

  /// Number of tasks that are inside a region now: count() while one runs, 0 between regions. A
  /// nested region adds the one task in which it runs, unless that is one of these tasks already.
  /// Any thread may call it.
  [[nodiscard]] int running() const noexcept;

  /// Calls body(task) once for each task, at the same time if the layer can. Returns when all tasks
  /// have ended, and rethrows the first exception of a task.
  template <std::invocable<int> Body>
  void run(Body&& body) {
    using body_type = std::remove_reference_t<Body>;
    start({[](void* context, int task) { (*static_cast<body_type*>(context))(task); },
           const_cast<std::remove_const_t<body_type>*>(std::addressof(body))});
  }

  /// Calls body(begin, end) in each task with its part of [0, n), see static_share. Tasks with an
  /// empty part make no call.
  template <std::invocable<std::size_t, std::size_t> Body>
  void for_each_range(std::size_t n, Body&& body, std::size_t unit = 1) {
    run([&](int task) {
      const index_range mine = static_share(n, task, count_, unit);
      if (mine.size() > 0) body(mine.begin, mine.end);
    });
  }

 private:
  void start(detail::task_call call);

  std::string name_ = "serial";
  int count_ = 1;
  bool nested_ = false;
  std::unique_ptr<detail::region_state> regions_;
  std::unique_ptr<detail::task_layer> layer_;  // null for "serial"
};

}  // namespace longshore

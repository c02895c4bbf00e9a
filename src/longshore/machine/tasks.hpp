// One parallel loop, whatever tasking layer stands behind it: chosen at run time by name, with a
// static partition.
#pragma once

#include <longshore/machine/task_layer.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace longshore {
namespace detail {
class turns;
}

/// Names of all tasking layers, also of those that this build does not have.
[[nodiscard]] std::vector<std::string> task_layer_names();

/// Why this many tasks of a layer cannot be had here, as a sentence, or nothing. Count 0 stands for
/// any.
[[nodiscard]] std::optional<std::string> why_no_tasks(std::string_view layer, int count = 0);

struct index_range {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] constexpr std::size_t size() const noexcept { return end - begin; }
  friend constexpr bool operator==(const index_range&, const index_range&) noexcept = default;
};

/// Piece `task` of [0, n) in `count` pieces that are as equal as whole units allow; ends are
/// multiples of `unit`, or n.
[[nodiscard]] constexpr index_range static_share(std::size_t n, int task, int count,
                                                 std::size_t unit = 1) noexcept {
  const std::size_t units = n / unit + (n % unit != 0 ? 1 : 0),
                    all = static_cast<std::size_t>(count), i = static_cast<std::size_t>(task);
  const std::size_t each = units / all, rest = units % all;
  const auto first = [&](std::size_t piece) {
    const std::size_t at = piece * each + (piece < rest ? piece : rest);
    return at == units ? n : at * unit;  // the last unit may be a partial one
  };
  return {first(i), first(i + 1)};
}

/// The tasks of one rank. The thread that made them must be the one to destroy them; any thread may
/// start a region of them, and is task 0 of it: a rank that starts work on the tasks of another
/// stands in for that rank's own thread, so that count() pieces run on count() threads. When two
/// threads start regions of the same tasks, the second waits for its turn.
///
/// A region that is started inside a task, of these or of others, runs its pieces one after the
/// other in that task (see task_options::nested); kernels that may be nested must not wait for each
/// other across tasks. A nested region never waits for a turn, so that tasks which start each
/// other's regions do not wait for each other for ever.
///
///     layer    tasks                                                 start of a region, tasks still awake
///     serial   the calling thread                                    nothing
///     threads  threads of our own, all at the same time              a microsecond; they spin for some 50 us, then sleep
///     openmp   the team that OpenMP keeps for each calling thread,   a microsecond; idle threads spin as OMP_WAIT_POLICY and
///              all at the same time                                  GOMP_SPINCOUNT said at program start, whatever `spin` says
///     tbb      an arena of their own; some may run one after the     a microsecond; an empty one may be over before the others
///              other in one thread: kernels must not wait            of the arena have come
///              for each other across tasks
///
///     longshore::tasks workers({.layer = "threads", .count = 2, .cpus = team.cpus()});
///     workers.for_each_range(n, [&](std::size_t begin, std::size_t end) { for (auto i = begin; i < end; ++i) a[i] = b[i]; });
class tasks {
 public:
  /// One task: the calling thread.
  tasks();
  /// Throws errc::usage for an unknown layer or a count that makes no sense, errc::unsupported for
  /// a layer that this build does not have, errc::out_of_memory when threads cannot be started.
  explicit tasks(const task_options& options);
  ~tasks();
  tasks(tasks&&) noexcept;
  tasks& operator=(tasks&&) noexcept;

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] const std::string& layer() const noexcept { return name_; }

  /// Tasks now inside a region: count() while one runs, 0 outside of all. The caller's own code
  /// between regions is no task. A region that was nested runs in one task, which counts as one of
  /// its tasks unless it is one of them already. May be asked by any thread.
  [[nodiscard]] int running() const noexcept;

  /// Calls body(task) once for each task, at the same time where the layer does so. Returns when
  /// all have ended; the first exception thrown in a task is thrown again here.
  template <std::invocable<int> Body>
  void run(Body&& body) {
    using body_type = std::remove_reference_t<Body>;
    start({[](void* context, int task) { (*static_cast<body_type*>(context))(task); },
           const_cast<std::remove_const_t<body_type>*>(std::addressof(body))});
  }

  /// Calls body(begin, end) in each task with its piece of [0, n); tasks without a piece are left
  /// out. See static_share.
  template <std::invocable<std::size_t, std::size_t> Body>
  void for_each_range(std::size_t n, Body&& body, std::size_t unit = 1) {
    run([&](int task) {
      const index_range mine = static_share(n, task, count_, unit);
      if (mine.size() > 0) body(mine.begin, mine.end);
    });
  }

 private:
  void start(task_call call);

  std::string name_ = "serial";
  int count_ = 1;
  bool nested_ = false;
  std::unique_ptr<detail::turns> turns_;
  std::unique_ptr<task_layer> layer_;  // none: serial
};

}  // namespace longshore

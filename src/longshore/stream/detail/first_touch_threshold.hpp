// The size above which all tasks write fresh memory faster than one thread does.
#pragma once

#include <longshore/machine/tasks.hpp>

#include <cstddef>

namespace longshore::detail {

/// The seconds of the first write to fresh pages, by one thread (serial) and by all tasks
/// (parallel).
struct first_touch_times {
  std::size_t small_bytes = 0, large_bytes = 0;
  /// Mostly the time to start a region of tasks that may be asleep.
  double small_parallel_seconds = 0;
  double large_serial_seconds = 0, large_parallel_seconds = 0;
};

/// Measures the times in some milliseconds: the minimum of a few repetitions on at least 1 MiB.
/// Must not be called inside a task.
[[nodiscard]] first_touch_times measure_first_touch(tasks& workers);

/// Returns the size in bytes above which all tasks are faster than one thread, if both times are
/// linear in the size. Returns the largest number if all tasks gain less than 5 %, which may be
/// chance.
[[nodiscard]] std::size_t first_touch_threshold_bytes(const first_touch_times& times) noexcept;

/// Measures the threshold on this machine. For one task, returns the largest number without a
/// measurement. Measure once for long-lived tasks and keep the result. With several NUMA nodes the
/// first touch also decides where the pages lie. The threshold ignores this.
[[nodiscard]] std::size_t measured_first_touch_threshold_bytes(tasks& workers);

}  // namespace longshore::detail

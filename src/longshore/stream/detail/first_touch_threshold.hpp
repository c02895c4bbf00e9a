// The size from which it pays that all tasks touch fresh memory first, instead of one thread.
#pragma once

#include <longshore/machine/tasks.hpp>

#include <cstddef>

namespace longshore::detail {

/// Measured seconds of the first write to fresh pages, by one thread and by all tasks.
struct first_touch_times {
  std::size_t small_bytes = 0, large_bytes = 0;
  /// mostly the time to start a region of tasks that may be asleep
  double small_by_all_seconds = 0;
  double large_by_one_seconds = 0, large_by_all_seconds = 0;
};

/// Measures the times: the shortest of a few rounds on 1 MiB or more, some milliseconds in total.
/// Must not be called inside a task.
[[nodiscard]] first_touch_times measure_first_touch(tasks& workers);

/// Size in bytes above which all tasks touch faster than one thread, if both times are linear in
/// the size. The largest number if all tasks are never faster, or by less than 5 %, which may be
/// chance.
[[nodiscard]] std::size_t first_touch_threshold_bytes(const first_touch_times& times) noexcept;

/// Measures the threshold on this machine; the largest number for one task, without a measurement.
/// Call it once for long-lived tasks and keep the result. The threshold considers time alone: with
/// several NUMA nodes, the first touch also decides where the pages lie.
[[nodiscard]] std::size_t measured_first_touch_threshold_bytes(tasks& workers);

}  // namespace longshore::detail

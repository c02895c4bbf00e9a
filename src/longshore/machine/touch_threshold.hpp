// From which size on it pays that all tasks together touch fresh memory first, instead of one
// thread alone.
#pragma once

#include <longshore/machine/tasks.hpp>

#include <cstddef>

namespace longshore {

/// What touch_threshold is computed from: seconds for fresh pages, straight from the kernel, to be
/// written for the first time.
struct touch_times {
  std::size_t small_bytes = 0, large_bytes = 0;
  /// mostly the start of the region, by tasks that may have gone to sleep
  double small_by_all_seconds = 0;
  double large_by_one_seconds = 0, large_by_all_seconds = 0;
};

/// Measures them: the shortest of a few rounds on 1 MiB or more, some milliseconds in all. Not to
/// be called from inside a task.
[[nodiscard]] touch_times measure_touch(tasks& workers);

/// Bytes above which touching by all takes less time than touching by one, both taken to be linear
/// in the size. The largest number where touching by all never wins, or by so little (5 %) that it
/// may be chance.
[[nodiscard]] std::size_t touch_threshold_bytes(const touch_times& times) noexcept;

/// The threshold on this machine as it is now, measured: ask once for tasks that live long, and
/// keep the answer. For one task the largest number, at once. This is about time alone: on several
/// NUMA nodes who touches also decides where pages lie.
[[nodiscard]] std::size_t measured_touch_threshold_bytes(tasks& workers);

}  // namespace longshore

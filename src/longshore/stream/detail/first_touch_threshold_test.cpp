// The threshold of first touch is the size at which both times are equal; the measured times are
// plausible.
#include <longshore/stream/detail/first_touch_threshold.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace longshore::detail {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

TEST(FirstTouchThreshold, is_the_size_at_which_both_times_are_equal) {
  // One thread: 1 ns per byte. All tasks: 10 us to start, then 0.5 ns per byte.
  const first_touch_times times{.small_bytes = 8192,
                                .large_bytes = 1 << 20,
                                .small_parallel_seconds = 10e-6 + 8192 * 0.5e-9,
                                .large_serial_seconds = (1 << 20) * 1e-9,
                                .large_parallel_seconds = 10e-6 + (1 << 20) * 0.5e-9};
  EXPECT_NEAR(static_cast<double>(first_touch_threshold_bytes(times)), 20'000, 10);
}

TEST(FirstTouchThreshold, is_infinite_unless_all_tasks_are_clearly_faster) {
  first_touch_times times{.small_bytes = 8192,
                          .large_bytes = 1 << 20,
                          .small_parallel_seconds = 10e-6,
                          .large_serial_seconds = 1e-3,
                          .large_parallel_seconds = 10e-6 + 0.99e-3};
  EXPECT_EQ(first_touch_threshold_bytes(times), never) << "a gain of 1 % may be chance";
  times.large_parallel_seconds = 2e-3;
  EXPECT_EQ(first_touch_threshold_bytes(times), never);
}

TEST(FirstTouchThreshold, is_infinite_for_one_task_and_measurable_for_two) {
  tasks alone;
  EXPECT_EQ(measured_first_touch_threshold_bytes(alone), never);
  tasks workers({.layer = "threads", .count = 2});
  const first_touch_times times = measure_first_touch(workers);
  EXPECT_GT(times.small_parallel_seconds, 0);
  EXPECT_GT(times.large_serial_seconds, 0);
  EXPECT_GT(times.large_parallel_seconds, 0);
  EXPECT_GT(times.large_bytes, times.small_bytes);
  EXPECT_GT(measured_first_touch_threshold_bytes(workers), 0u);
}

}  // namespace
}  // namespace longshore::detail

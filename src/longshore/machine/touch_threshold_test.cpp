// Region start and first touch: what is measured is plausible, and the threshold is where the two
// lines meet.
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/region_start.hpp>
#include <longshore/machine/touch_threshold.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace longshore {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

TEST(RegionStart, takes_some_time_but_not_long) {
  for (const int count : {1, 2}) {
    tasks workers({.layer = count == 1 ? "serial" : "threads", .count = count});
    const double seconds = region_start_seconds(workers);
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 0.01) << count << " tasks";
  }
}

TEST(TouchThreshold, is_where_one_and_all_take_the_same_time) {
  // One: 1 ns per byte. All: 10 us to start, then 0.5 ns per byte.
  const touch_times times{.small_bytes = 8192,
                          .large_bytes = 1 << 20,
                          .small_by_all_seconds = 10e-6 + 8192 * 0.5e-9,
                          .large_by_one_seconds = (1 << 20) * 1e-9,
                          .large_by_all_seconds = 10e-6 + (1 << 20) * 0.5e-9};
  EXPECT_NEAR(static_cast<double>(touch_threshold_bytes(times)), 20'000, 10);
}

TEST(TouchThreshold, is_infinite_where_all_are_not_faster_than_one) {
  touch_times times{.small_bytes = 8192,
                    .large_bytes = 1 << 20,
                    .small_by_all_seconds = 10e-6,
                    .large_by_one_seconds = 1e-3,
                    .large_by_all_seconds = 10e-6 + 0.99e-3};
  EXPECT_EQ(touch_threshold_bytes(times), never) << "a gain of one percent may be chance";
  times.large_by_all_seconds = 2e-3;
  EXPECT_EQ(touch_threshold_bytes(times), never);
}

TEST(TouchThreshold, measured_with_one_task_is_infinite_and_with_two_agrees_with_its_own_times) {
  tasks alone;
  EXPECT_EQ(measured_touch_threshold_bytes(alone), never);
  tasks workers({.layer = "threads", .count = 2});
  const touch_times times = measure_touch(workers);
  EXPECT_GT(times.small_by_all_seconds, 0);
  EXPECT_GT(times.large_by_one_seconds, 0);
  EXPECT_GT(times.large_by_all_seconds, 0);
  EXPECT_GT(times.large_bytes, times.small_bytes);
  EXPECT_GT(measured_touch_threshold_bytes(workers), 0u);
}

}  // namespace
}  // namespace longshore

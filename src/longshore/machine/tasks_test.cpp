// The partition of loops, the time of an empty region, and the errors of wrong options of tasks.
#include <longshore/core/error.hpp>
#include <longshore/machine/tasks.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace longshore {
namespace {

TEST(StaticShare, covers_all_elements_once_in_order_and_evenly) {
  for (const std::size_t unit : {1, 8, 16})
    for (const int count : {1, 2, 3, 7, 64})
      for (const std::size_t n : {0, 1, 7, 8, 9, 100, 1000, 4096}) {
        std::size_t expected_begin = 0, smallest = n, largest = 0;
        for (int task = 0; task < count; ++task) {
          const index_range part = static_share(n, task, count, unit);
          ASSERT_EQ(part.begin, expected_begin);
          ASSERT_TRUE(part.end % unit == 0 || part.end == n);
          expected_begin = part.end;
          smallest = std::min(smallest, part.size()), largest = std::max(largest, part.size());
        }
        ASSERT_EQ(expected_begin, n);
        ASSERT_LE(largest - smallest, 2 * unit - 1)
            << n << " over " << count << " in units of " << unit;
      }
}

void refused(const task_options& options, errc code, const std::string& part_of_message) {
  try {
    const tasks workers(options);
    FAIL() << options.layer << " with " << options.count << " was accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(part_of_message), std::string::npos) << e.what();
  }
}

TEST(Tasks, wrong_and_unavailable_options_are_refused_with_a_reason) {
  refused({.layer = "thread"}, errc::usage, "unknown tasking layer 'thread'");
  refused({.layer = "serial", .count = 2}, errc::usage, "use threads");
  refused({.layer = "threads", .count = 0}, errc::usage, "0 tasks");
  refused({.layer = "threads", .count = -3}, errc::usage, "-3 tasks");
  refused({.layer = "threads", .count = 1'000'000}, errc::usage, "1000000 tasks");
  for (const std::string layer : {"serial", "threads"}) EXPECT_FALSE(why_no_tasks(layer));
  for (const std::string layer : {"openmp", "tbb"})
    if (const auto reason = why_no_tasks(layer)) {
      EXPECT_NE(reason->find("tasks " + layer + ": this build "), std::string::npos) << *reason;
      refused({.layer = layer, .count = 2}, errc::unsupported, "build Longshore again");
    }
}

TEST(EmptyRegion, takes_less_than_10_ms) {
  for (const int count : {1, 2}) {
    tasks workers({.layer = count == 1 ? "serial" : "threads", .count = count});
    const double seconds = empty_region_seconds(workers);
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 0.01) << count << " tasks";
  }
}

}  // namespace
}  // namespace longshore

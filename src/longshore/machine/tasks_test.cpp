// Tasking layers: everything is done once, in the shares that were promised, and what goes wrong in
// a task reaches the caller.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

namespace longshore {
namespace {

TEST(StaticShare, covers_everything_once_in_order_and_evenly) {
  for (const std::size_t unit : {1, 8, 16})
    for (const int count : {1, 2, 3, 7, 64})
      for (const std::size_t n : {0, 1, 7, 8, 9, 100, 1000, 4096}) {
        std::size_t at = 0, smallest = n, largest = 0;
        for (int task = 0; task < count; ++task) {
          const index_range mine = static_share(n, task, count, unit);
          ASSERT_EQ(mine.begin, at);
          ASSERT_TRUE(mine.end % unit == 0 || mine.end == n);
          at = mine.end;
          smallest = std::min(smallest, mine.size()), largest = std::max(largest, mine.size());
        }
        ASSERT_EQ(at, n);
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

TEST(Tasks, what_makes_no_sense_or_is_not_there_is_refused_with_its_reason) {
  refused({.layer = "thread"}, errc::usage, "unknown tasking layer 'thread'");
  refused({.layer = "serial", .count = 2}, errc::usage, "use threads");
  refused({.layer = "threads", .count = 0}, errc::usage, "0 tasks");
  refused({.layer = "threads", .count = -3}, errc::usage, "-3 tasks");
  refused({.layer = "threads", .count = 1'000'000}, errc::usage, "1000000 tasks");
  for (const std::string layer : {"serial", "threads"}) EXPECT_FALSE(why_no_tasks(layer));
  for (const std::string layer : {"openmp", "tbb"})
    if (const auto reason = why_no_tasks(layer)) {
      EXPECT_NE(reason->find("tasks " + layer + ": this build has no "), std::string::npos)
          << *reason;
      refused({.layer = layer, .count = 2}, errc::unsupported, "build Longshore again");
    }
}

}  // namespace
}  // namespace longshore

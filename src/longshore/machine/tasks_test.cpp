// Tasking layers: everything is done once, in the shares that were promised, and what goes wrong in a task reaches the caller.
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
        ASSERT_LE(largest - smallest, 2 * unit - 1) << n << " over " << count << " in units of " << unit;
      }
}

std::vector<task_options> all_sorts() {
  std::vector<task_options> sorts = {{.layer = "serial"}};
  for (const int count : {1, 2, 3, 9})
    for (const bool spin : {false, true})
      for (const bool pin : {false, true}) sorts.push_back({.layer = "threads", .count = count, .pin = pin, .spin = spin});
  return sorts;
}

TEST(Tasks, each_element_is_visited_once) {
  for (const auto& options : all_sorts()) {
    tasks workers(options);
    EXPECT_EQ(workers.count(), options.count);
    EXPECT_EQ(workers.layer(), options.layer);
    for (const std::size_t n : {0, 1, 3, 1000, 100'000}) {
      std::vector<int> visits(n, 0);
      for (int round = 0; round < 5; ++round)
        workers.for_each_range(n, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
      ASSERT_TRUE(std::ranges::all_of(visits, [](int count) { return count == 5; }));
    }
  }
}

TEST(Tasks, run_at_the_same_time_and_task_0_is_the_caller) {
  tasks workers({.layer = "threads", .count = 4});
  std::atomic<int> present = 0;
  std::vector<std::thread::id> who(4);
  workers.run([&](int task) {
    who[task] = std::this_thread::get_id();
    for (++present; present < 4;) std::this_thread::yield();  // ends only if all four are there
  });
  EXPECT_EQ(who[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(who.begin(), who.end()).size(), 4u);
}

TEST(Tasks, many_short_regions_lose_nothing) {
  for (const auto& options : all_sorts()) {
    tasks workers(options);
    std::atomic<long> calls = 0;
    for (int round = 0; round < 200; ++round) workers.run([&](int) { calls.fetch_add(1, std::memory_order_relaxed); });
    EXPECT_EQ(calls, 200L * options.count);
  }
}

TEST(Tasks, sleeping_tasks_wake_up) {
  tasks workers({.layer = "threads", .count = 3});
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> calls = 0;
    workers.run([&](int) { ++calls; });
    EXPECT_EQ(calls, 3);
  }
}

TEST(Tasks, an_exception_in_any_task_reaches_the_caller_after_all_have_ended) {
  for (const auto& options : all_sorts()) {
    tasks workers(options);
    for (int thrower = 0; thrower < options.count; ++thrower) {
      std::atomic<int> ended = 0;
      const auto region = [&](int task) {
        if (task == thrower) throw std::runtime_error("task " + std::to_string(task));
        ++ended;
      };
      try {
        workers.run(region);
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), "task " + std::to_string(thrower));
        EXPECT_EQ(ended, options.count - 1);
      }
    }
    std::atomic<int> calls = 0;  // and the tasks are still good
    workers.run([&](int) { ++calls; });
    EXPECT_EQ(calls, options.count);
  }
}

TEST(Tasks, pinned_ones_stay_where_they_were_put_and_the_caller_is_freed_at_the_end) {
  const auto before = allowed_cpus();
  {
    tasks workers({.layer = "threads", .count = 2, .pin = true});
    std::vector<std::vector<int>> where(2);
    workers.run([&](int task) { where[task] = allowed_cpus(); });
    EXPECT_EQ(where[0], std::vector<int>{before.front()});
    EXPECT_EQ(where[1], std::vector<int>{before[before.size() / 2]});
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Tasks, those_of_a_pinned_rank_may_use_its_whole_share) {
  const auto share = allowed_cpus();
  const pinned rank(share.front());
  tasks workers({.layer = "threads", .count = 2, .cpus = share});
  std::vector<int> where;
  workers.run([&](int task) {
    if (task == 1) where = allowed_cpus();
  });
  EXPECT_EQ(where, share);
}

TEST(Tasks, nested_regions_are_refused) {
  tasks workers({.layer = "threads", .count = 2});
  EXPECT_THROW(workers.run([&](int task) {
    if (task == 0) workers.run([](int) {});
  }),
               error);
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
  refused({.layer = "openmp"}, errc::unsupported, "openmp");
  refused({.layer = "tbb"}, errc::unsupported, "tbb");
  refused({.layer = "serial", .count = 2}, errc::usage, "use threads");
  refused({.layer = "threads", .count = 0}, errc::usage, "0 tasks");
  refused({.layer = "threads", .count = -3}, errc::usage, "-3 tasks");
  refused({.layer = "threads", .count = 1'000'000}, errc::usage, "1000000 tasks");
  for (const auto& name : task_layer_names()) EXPECT_EQ(why_no_tasks(name).has_value(), name == "openmp" || name == "tbb");
}

}  // namespace
}  // namespace longshore

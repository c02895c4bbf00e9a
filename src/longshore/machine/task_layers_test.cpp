// All tasking layers behave alike: every part runs once, nesting does not oversubscribe, running()
// is right, and exceptions reach the caller.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/tasks.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>

namespace longshore {
namespace {

struct layer_case {
  const char* layer;
  int count;
  bool pin = false, spin = true;
  [[nodiscard]] task_options options() const {
    return {.layer = layer, .count = count, .pin = pin, .spin = spin};
  }
};

std::string name_of(const ::testing::TestParamInfo<layer_case>& info) {
  return fmt::format("{}_{}{}{}", info.param.layer, info.param.count,
                     info.param.pin ? "_pinned" : "", info.param.spin ? "" : "_sleepy");
}

std::vector<layer_case> all_cases() {
  std::vector<layer_case> cases = {{"serial", 1}};
  for (const char* layer : {"threads", "openmp", "tbb"})
    for (const int count : {1, 2, 3, 9})
      cases.insert(cases.end(), {{layer, count}, {layer, count, true}});
  for (const int count : {2, 9})
    cases.insert(cases.end(), {{"threads", count, false, false}, {"threads", count, true, false}});
  return cases;
}

class task_layers : public ::testing::TestWithParam<layer_case> {
 protected:
  void SetUp() override {
    if (const auto reason = why_no_tasks(GetParam().layer)) GTEST_SKIP() << *reason;
  }
  [[nodiscard]] static int count() { return GetParam().count; }
  [[nodiscard]] static bool runs_tasks_at_the_same_time() {
    return GetParam().layer != std::string("tbb");
  }
};
INSTANTIATE_TEST_SUITE_P(all, task_layers, ::testing::ValuesIn(all_cases()), name_of);

TEST_P(task_layers, each_element_is_visited_once_per_region) {
  tasks workers(GetParam().options());
  EXPECT_EQ(workers.count(), count());
  EXPECT_EQ(workers.layer(), GetParam().layer);
  for (const std::size_t n : {0, 1, 3, 1000, 100'000}) {
    std::vector<int> visits(n, 0);
    for (int region = 0; region < 5; ++region)
      workers.for_each_range(n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
    ASSERT_TRUE(std::ranges::all_of(visits, [](int visited) { return visited == 5; }));
  }
}

TEST_P(task_layers, many_short_regions_run_every_task_once) {
  tasks workers(GetParam().options());
  // Without atomics, a task that ran twice at once would be a race that a sanitizer finds.
  std::vector<long> calls(count(), 0);
  for (int region = 0; region < 200; ++region) workers.run([&](int task) { ++calls[task]; });
  for (const long times : calls) EXPECT_EQ(times, 200);
}

TEST_P(task_layers, the_next_region_sees_writes_of_other_tasks) {
  tasks workers(GetParam().options());
  std::vector<int> values(count());
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> next(values.size());
  for (int region = 0; region < 50; ++region) {
    workers.run([&](int task) { next[task] = values[(task + 1) % count()]; });
    workers.run([&](int task) { values[task] = next[task]; });
  }
  for (int task = 0; task < count(); ++task) EXPECT_EQ(values[task], (task + 50) % count());
}

TEST_P(task_layers, tasks_run_at_the_same_time_and_the_caller_is_task_0) {
  if (!runs_tasks_at_the_same_time()) GTEST_SKIP() << "tbb does not guarantee it";
  tasks workers(GetParam().options());
  std::atomic<int> present = 0;
  std::vector<std::thread::id> who(count());
  workers.run([&](int task) {
    who[task] = std::this_thread::get_id();
    for (++present; present < count();) std::this_thread::yield();  // ends only if all tasks run
  });
  EXPECT_EQ(who[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(who.begin(), who.end()).size(), static_cast<std::size_t>(count()));
  for (int region = 0; region < 20; ++region) {
    std::vector<std::thread::id> again(count());
    workers.run([&](int task) { again[task] = std::this_thread::get_id(); });
    EXPECT_EQ(again, who) << "a task changed its thread";
  }
}

TEST_P(task_layers, sleeping_tasks_wake_up) {
  tasks workers(GetParam().options());
  for (int region = 0; region < 3; ++region) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> calls = 0;
    workers.run([&](int) { ++calls; });
    EXPECT_EQ(calls, count());
  }
}

TEST_P(task_layers, an_exception_in_any_task_reaches_the_caller_after_all_have_ended) {
  tasks workers(GetParam().options());
  for (int thrower = 0; thrower < count(); ++thrower) {
    std::atomic<int> ended = 0;
    try {
      workers.run([&](int task) {
        if (task == thrower) throw std::runtime_error("task " + std::to_string(task));
        ++ended;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "task " + std::to_string(thrower));
      EXPECT_EQ(ended, count() - 1);
    }
    EXPECT_EQ(workers.running(), 0);
  }
  EXPECT_THROW(workers.run([&](int) { throw std::logic_error("all of them"); }), std::logic_error);
  std::atomic<int> calls = 0;  // the tasks still work
  workers.run([&](int) { ++calls; });
  EXPECT_EQ(calls, count());
}

TEST_P(task_layers, an_exception_in_a_nested_region_reaches_the_outer_caller) {
  tasks outer(GetParam().options()), inner(GetParam().options());
  std::atomic<int> ended = 0;
  EXPECT_THROW(outer.run([&](int) {
    inner.run([&](int task) {
      if (task == 0) throw std::runtime_error("inside");
      ++ended;
    });
  }),
               std::runtime_error);
  EXPECT_EQ(ended, count() * (count() - 1)) << "other parts did not run";
}

TEST_P(task_layers, pinned_tasks_stay_on_their_cpus_and_the_caller_gets_its_cpus_back) {
  if (!GetParam().pin) GTEST_SKIP() << "these are not pinned";
  const auto before = allowed_cpus();
  {
    tasks workers(GetParam().options());
    for (int region = 0; region < 3; ++region) {
      std::vector<std::vector<int>> where(count());
      std::vector<std::thread::id> who(count());
      workers.run([&](int task) {
        where[task] = allowed_cpus(), who[task] = std::this_thread::get_id();
        if (runs_tasks_at_the_same_time()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // gives workers time to arrive
      });
      for (int task = 0; task < count(); ++task) {
        const auto expected = runs_tasks_at_the_same_time()
                                  ? std::vector{before[task * before.size() / count()]}
                                  : where[task];
        EXPECT_EQ(where[task], expected) << "task " << task;
        EXPECT_EQ(where[task].size(), 1u);
      }
    }
  }
  EXPECT_EQ(allowed_cpus(), before);
}

// The allowed CPUs of each thread of this process, as the kernel writes them.
std::multiset<std::string> bindings_of_all_threads() {
  std::multiset<std::string> bindings;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Cpus_allowed_list:")) bindings.insert(line);
  }
  return bindings;
}

TEST_P(task_layers, remaining_threads_are_not_bound_to_one_cpu) {
  const auto unbound = bindings_of_all_threads();
  const auto kinds_before = std::set(unbound.begin(), unbound.end()).size();
  if (allowed_cpus().size() == 1) GTEST_SKIP() << "there is only one CPU";
  for (int region = 0; region < 3; ++region) {
    tasks workers(GetParam().options());
    workers.run([](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    if (GetParam().pin && count() > 1) {
      const auto bound = bindings_of_all_threads();
      EXPECT_GT(std::set(bound.begin(), bound.end()).size(), kinds_before) << "nothing was bound";
    }
  }
  const auto after = bindings_of_all_threads();
  EXPECT_EQ(std::set(after.begin(), after.end()).size(), 1u);
}

TEST_P(task_layers, tasks_of_a_pinned_rank_may_use_all_cpus_of_the_rank) {
  if (GetParam().pin) GTEST_SKIP() << "these are pinned";
  const auto share = allowed_cpus();
  const pinned rank(share.front());
  task_options options = GetParam().options();
  options.cpus = share;
  tasks workers(options);
  const auto caller = std::this_thread::get_id();
  workers.run([&](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(allowed_cpus(),
              std::this_thread::get_id() == caller ? std::vector{share.front()} : share);
  });
  EXPECT_EQ(allowed_cpus(), std::vector{share.front()});
}

TEST_P(task_layers, a_region_inside_a_task_runs_in_that_task) {
  for (const bool same : {true, false}) {
    tasks outer(GetParam().options()), other(GetParam().options());
    tasks& inner = same ? outer : other;
    std::vector<int> pieces(count(), 0);
    std::atomic<int> elsewhere = 0;
    outer.run([&](int task) {
      const auto here = std::this_thread::get_id();
      int next = 0;
      inner.run([&](int piece) {
        if (std::this_thread::get_id() != here || piece != next++) ++elsewhere;
        pieces[task] += piece + 1;
      });
    });
    EXPECT_EQ(elsewhere, 0);
    for (const int sum : pieces) EXPECT_EQ(sum, count() * (count() + 1) / 2);
  }
}

TEST_P(task_layers, running_is_the_number_of_tasks_inside_regions) {
  tasks workers(GetParam().options()), others(GetParam().options());
  EXPECT_EQ(workers.running(), 0);
  std::vector<int> seen(count()), within_same(count()), within_other(count());
  workers.run([&](int task) {
    seen[task] = workers.running();
    workers.run([&](int) { within_same[task] = workers.running(); });
    others.run([&](int) { within_other[task] = others.running(); });
  });
  EXPECT_EQ(workers.running(), 0);
  EXPECT_EQ(others.running(), 0);
  for (int task = 0; task < count(); ++task) {
    EXPECT_EQ(seen[task], count());
    EXPECT_EQ(within_same[task], count())
        << "a nested region in a task of the same object adds no task";
    EXPECT_GE(within_other[task], 1);
    EXPECT_LE(within_other[task], count()) << "one for each task with a nested region";
  }
}

TEST_P(task_layers, nested_regions_use_the_inner_tasks_if_the_option_is_set_and_they_are_free) {
  tasks outer({.layer = "threads", .count = 2});
  std::array<std::unique_ptr<tasks>, 2> inner;
  for (auto& nested_tasks : inner) {
    task_options options = GetParam().options();
    options.nested = true, options.pin = false;
    nested_tasks = std::make_unique<tasks>(options);
  }
  std::vector<std::set<std::thread::id>> who(2, std::set<std::thread::id>{});
  std::vector<int> running(2);
  outer.run([&](int task) {
    std::vector<std::thread::id> threads(count());
    std::atomic<int> present = 0;
    inner[task]->run([&](int piece) {
      threads[piece] = std::this_thread::get_id();
      if (piece == 0) running[task] = inner[task]->running();
      for (++present; runs_tasks_at_the_same_time() && present < count();)
        std::this_thread::yield();
      // The outer tasks wait for this region, so their region runs in this thread.
      outer.run([](int) {});
    });
    who[task] = std::set(threads.begin(), threads.end());
  });
  for (int task = 0; task < 2; ++task) {
    EXPECT_EQ(running[task], count());
    if (runs_tasks_at_the_same_time()) {
      EXPECT_EQ(who[task].size(), static_cast<std::size_t>(count()));
    }
  }
}

TEST_P(task_layers, tasks_that_start_each_others_regions_do_not_deadlock) {
  task_options options = GetParam().options();
  options.nested = true, options.pin = false;
  tasks a(options), b(options);
  std::atomic<long> calls = 0;
  const auto there_and_back = [&](tasks& first, tasks& second) {
    for (int region = 0; region < 50; ++region)
      first.run([&](int) {
        second.run(
            [&](int) { first.run([&](int) { calls.fetch_add(1, std::memory_order_relaxed); }); });
      });
  };
  std::thread other(there_and_back, std::ref(b), std::ref(a));
  there_and_back(a, b);
  other.join();
  EXPECT_EQ(calls, 2L * 50 * count() * count() * count());
}

TEST_P(task_layers, another_thread_that_starts_a_region_replaces_the_constructing_thread) {
  tasks workers(GetParam().options());
  workers.run([](int) {});
  std::vector<std::thread::id> who(count());
  std::vector<int> running(count());
  std::thread([&] {
    for (int region = 0; region < 10; ++region)
      workers.run([&](int task) {
        who[task] = std::this_thread::get_id(), running[task] = workers.running();
      });
    EXPECT_EQ(workers.running(), 0);
    if (runs_tasks_at_the_same_time()) {
      EXPECT_EQ(who[0], std::this_thread::get_id());
    }
  }).join();
  if (runs_tasks_at_the_same_time()) {
    EXPECT_EQ(std::ranges::count(who, std::this_thread::get_id()), 0)
        << "the constructing thread ran a task";
  }
  for (const int seen : running) EXPECT_EQ(seen, count());
}

TEST_P(task_layers, regions_of_two_threads_run_one_after_the_other) {
  tasks workers(GetParam().options());
  std::vector<long> calls(count(), 0);  // without atomics, two regions at once would be a race
  std::atomic<int> wrong = 0;
  const auto start_many = [&] {
    for (int region = 0; region < 100; ++region)
      workers.run([&](int task) {
        if (workers.running() != count()) ++wrong;
        ++calls[task];
      });
  };
  std::thread second(start_many), third(start_many);
  start_many();
  second.join();
  third.join();
  EXPECT_EQ(wrong, 0);
  for (const long times : calls) EXPECT_EQ(times, 300);
}

TEST_P(task_layers, objects_of_many_threads_do_not_affect_each_other) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.emplace_back([&wrong] {
      task_options options = GetParam().options();
      options.spin = false;
      tasks first(options), second(options);
      std::vector<int> visits(1000, 0);
      for (int region = 0; region < 20; ++region)
        for (tasks* workers : {&first, &second})
          workers->for_each_range(visits.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) ++visits[i];
          });
      wrong += !std::ranges::all_of(visits, [](int visited) { return visited == 40; });
    });
  for (auto& rank : ranks) rank.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(task_layers, objects_can_be_destroyed_and_moved) {
  std::atomic<int> calls = 0;
  for (int region = 0; region < 10; ++region) {
    tasks workers(GetParam().options());
    if (region % 2 == 0) workers.run([&](int) { ++calls; });
    tasks moved = std::move(workers);
    moved.run([&](int) { ++calls; });
  }
  EXPECT_EQ(calls, 15 * count());
}

}  // namespace
}  // namespace longshore

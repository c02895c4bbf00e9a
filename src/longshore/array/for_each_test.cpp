// for_each visits every element of zipped arrays exactly once, over all ranks and tasks. It refuses
// arrays that are distributed differently.
#include <longshore/array/for_each.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

namespace longshore {
namespace {

using testing::spmd;

template <class D>
void visits_every_element_once(D distribution) {
  spmd([&](team& team) {
    for (const int count : {1, 3}) {
      tasks workers({.layer = "threads", .count = count, .spin = false});
      for (const std::uint64_t n : {0, 1, 2, 9, 1000, 4099}) {
        dist_array<std::int64_t, D> a(team, n, distribution);
        dist_array<double, D> b(team, n, distribution);
        const dist_array<std::int8_t, D> c(team, n, distribution);
        std::int64_t next = 1000;
        for (auto& value : a.local()) value = next++;
        for_each(workers, zip(a, b, c), [](std::int64_t& x, double& y, const std::int8_t& z) {
          x += 5;
          y += static_cast<double>(x) + z;
        });
        next = 1005;
        for (const auto value : a.local()) ASSERT_EQ(value, next++);
        next = 1005;
        for (const auto value : b.local()) ASSERT_EQ(value, static_cast<double>(next++));
        ASSERT_EQ(static_cast<std::uint64_t>(team.allreduce_value(next - 1005, reduction::sum)), n);
        for_each(zip(b), [](double& y) { y = -1; });
        ASSERT_TRUE(std::ranges::all_of(b.local(), [](double y) { return y == -1; }));
      }
    }
  });
}

TEST(ForEach, visits_every_element_once_in_block) { visits_every_element_once(block{}); }
TEST(ForEach, visits_every_element_once_in_cyclic) { visits_every_element_once(cyclic{}); }
TEST(ForEach, visits_every_element_once_in_block_cyclic) {
  visits_every_element_once(block_cyclic{5});
}

TEST(ForEachSpan, spans_begin_at_cache_lines_and_cover_the_local_part) {
  spmd([](team& team) {
    tasks workers({.layer = "threads", .count = 3, .spin = false});
    dist_array<double> a(team, 10'007);
    dist_array<float> b(team, 10'007);
    std::mutex guard;
    std::size_t covered = 0, pieces = 0;
    for_each_span(workers, zip(a, b), [&](std::span<double> x, std::span<float> y) {
      const std::lock_guard hold(guard);
      EXPECT_EQ(x.size(), y.size());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % cache_line_bytes, 0u);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(y.data()) % cache_line_bytes, 0u);
      EXPECT_EQ(x.data() - a.local().data(), y.data() - b.local().data());
      covered += x.size();
      ++pieces;
    });
    EXPECT_EQ(covered, a.local().size());
    EXPECT_EQ(pieces, 3u);
  });
}

template <class Make>
void refused(const std::string& part_of_message, const Make& make) {
  spmd([&](team& team) {
    try {
      make(team);
      FAIL() << "was accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_NE(std::string(e.what()).find(part_of_message), std::string::npos) << e.what();
    }
  });
}

TEST(ForEach, arrays_of_different_distributions_are_refused) {
  refused("array 2 has 11 over", [](team& team) {
    dist_array<int> a(team, 10), b(team, 11);
    for_each(zip(a, b), [](int&, int&) { FAIL() << "was called"; });
  });
  refused("array 3 is block-cyclic in other blocks", [](team& team) {
    dist_array<int, block_cyclic> a(team, 10, {2}), b(team, 10, {2}), c(team, 10, {3});
    for_each(zip(a, b, c), [](int&, int&, int&) { FAIL() << "was called"; });
  });
}

}  // namespace
}  // namespace longshore

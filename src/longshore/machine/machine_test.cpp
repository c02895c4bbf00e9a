// Affinity, pages, and sizes of memory and caches on the machine that runs the test.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/detail/control_groups.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/machine/pages.hpp>

#include <gtest/gtest.h>

#include <sched.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace longshore {
namespace {

TEST(Affinity, a_pinned_thread_runs_on_its_cpu_and_gets_its_cpus_back) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  {
    const pinned here(before.back());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
    EXPECT_EQ(sched_getcpu(), before.back());
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(ControlGroups, the_smallest_quota_of_a_group_and_its_ancestors_counts) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "longshore_control_groups";
  fs::remove_all(root);
  const auto write = [&](const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  };
  const auto cores = [&] { return detail::quota_cores(detail::control_groups("cpu", root)); };
  EXPECT_TRUE(std::isinf(cores()));  // without any file
  write("proc/self/cgroup", "0::/job/7\n");
  write("sys/fs/cgroup/job/7/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(cores()));
  write("sys/fs/cgroup/job/7/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores(), 1.5);
  write("proc/self/cgroup", "4:memory:/other\n3:cpu,cpuacct:/docker/1\n0::/\n");
  EXPECT_TRUE(std::isinf(cores()));
  write("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(cores()));
  write("sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), 2.5);
  fs::remove_all(root);
}

TEST(Affinity, there_are_at_most_as_many_usable_cores_as_allowed_cpus) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(allowed_cpus().size()));
}

TEST(Pages, are_zero_and_aligned) {
  for (const bool huge : {false, true}) {
    const pages memory(5 << 20, huge);
    EXPECT_EQ(
        reinterpret_cast<std::uintptr_t>(memory.data()) % (huge ? huge_page_bytes() : page_bytes()),
        0u);
    for (std::size_t i = 0; i < memory.size_bytes(); i += 4096)
      ASSERT_EQ(memory.data()[i], std::byte{0});
    memory.data()[memory.size_bytes() - 1] = std::byte{1};
  }
}

TEST(Pages, beyond_the_memory_are_refused_with_the_number_of_bytes) {
  try {
    const pages memory(std::size_t{1} << 50);
    FAIL() << "a pebibyte was granted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("1125899906842624"), std::string::npos) << e.what();
  }
}

TEST(Pages, have_one_owner_after_a_move) {
  pages a(4096);
  const auto* data = a.data();
  pages b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);
}

TEST(Memory, sizes_are_plausible) {
  EXPECT_GT(available_memory_bytes(), std::size_t{1} << 26);
  EXPECT_GT(last_level_cache_bytes(), std::size_t{1} << 18);
  EXPECT_GT(available_shared_memory_bytes(), 0u);
  EXPECT_GE(last_level_cache_count(), 1);
}

}  // namespace
}  // namespace longshore

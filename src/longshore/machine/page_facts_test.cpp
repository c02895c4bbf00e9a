// inspect_pages shows blocks of every kind as they are; unknown values are nothing.
#include <longshore/core/bytes.hpp>
#include <longshore/machine/memory_block.hpp>
#include <longshore/machine/page_facts.hpp>
#include <longshore/machine/pages.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace longshore {
namespace {

void touch(std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += page_bytes())
    static_cast<volatile std::byte*>(data)[at] = std::byte{1};
}

std::size_t on_all_nodes(const page_facts& facts) {
  return std::accumulate(
      facts.nodes->begin(), facts.nodes->end(), std::size_t{0},
      [](std::size_t sum, const bytes_on_node& node) { return sum + node.bytes; });
}

TEST(PageFacts, only_touched_pages_are_resident) {
  const std::size_t page = page_bytes(), total = 1000 * page, touched = 300 * page;
  const pages memory(total);
  madvise(memory.data(), total, MADV_NOHUGEPAGE);
  touch(memory.data(), touched);
  const auto facts = inspect_pages(memory.data(), total);
  EXPECT_EQ(facts.bytes, total);
  EXPECT_EQ(facts.resident_bytes, touched);
  EXPECT_EQ(facts.transparent_huge_bytes, 0u);
  EXPECT_EQ(facts.explicit_huge_bytes, 0u);
  EXPECT_EQ(facts.page_bytes_of_kernel, page);
  EXPECT_EQ(inspect_pages(memory.data() + touched, total - touched).resident_bytes, 0u);
  EXPECT_EQ(inspect_pages(memory.data() + 100 * page, 2 * page).resident_bytes, 2 * page);
  EXPECT_EQ(inspect_pages(memory.data() + 100 * page + 1, page).resident_bytes, 2 * page)
      << "the range overlaps two pages";
}

TEST(PageFacts, are_right_for_blocks_of_every_policy) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  for (const auto& policy : memory_policy_names()) {
    if (why_no_memory(policy) ||
        (policy == "huge-explicit" && read_huge_page_pool().free_bytes < bytes))
      continue;
    const memory_block block(bytes, policy);
    touch(block.data(), bytes);
    block.data()[bytes - 1] = std::byte{1};
    const auto facts = inspect_pages(block.data(), bytes);
    ASSERT_TRUE(facts.resident_bytes) << policy;
    EXPECT_GE(*facts.resident_bytes, bytes) << policy;
    EXPECT_LE(*facts.resident_bytes, bytes + 2 * page_bytes()) << policy;
    if (block.obtained() == "huge-explicit") {
      EXPECT_EQ(facts.explicit_huge_bytes, bytes);
      EXPECT_EQ(facts.page_bytes_of_kernel, read_huge_page_pool().page_bytes);
    } else {
      EXPECT_EQ(facts.explicit_huge_bytes, 0u) << policy;
      EXPECT_EQ(facts.page_bytes_of_kernel, page_bytes()) << policy;
      EXPECT_LE(facts.transparent_huge_bytes.value_or(0), *facts.resident_bytes) << policy;
    }
    if (facts.nodes) {
      EXPECT_NEAR(static_cast<double>(on_all_nodes(facts)),
                  static_cast<double>(*facts.resident_bytes), 4096)
          << policy;
      const auto allowed = allowed_numa_nodes();
      for (const auto& node : *facts.nodes)
        EXPECT_TRUE(std::ranges::count(allowed, node.node) == 1) << policy;
    }
  }
}

TEST(PageFacts, include_transparent_huge_pages_if_the_kernel_gave_some) {
  if (const auto reason = why_no_transparent_huge_pages()) GTEST_SKIP() << *reason;
  const std::size_t bytes = 8 * huge_page_bytes();
  const memory_block block(bytes, "huge-transparent");
  touch(block.data(), bytes);
  const auto facts = inspect_pages(block.data(), bytes);
  if (!facts.transparent_huge_bytes) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_LE(*facts.transparent_huge_bytes, bytes);
  EXPECT_EQ(*facts.transparent_huge_bytes % page_bytes(), 0u);
  if (*facts.transparent_huge_bytes == 0) GTEST_SKIP() << "the kernel had no huge pages to give";
  // A part of a mapping gets its share. The last half of a huge page below consists of small pages.
  const std::size_t more = bytes + huge_page_bytes() / 2;
  const memory_block mixed(more, "huge-transparent");
  touch(mixed.data(), more);
  if (inspect_pages(mixed.data(), more).transparent_huge_bytes == 0u)
    GTEST_SKIP() << "the kernel had no huge pages to give";
  const auto part = inspect_pages(mixed.data(), huge_page_bytes());
  EXPECT_TRUE(part.proportioned);
  EXPECT_EQ(part.resident_bytes, huge_page_bytes());
  EXPECT_GT(*part.transparent_huge_bytes, 0u);
  EXPECT_LT(*part.transparent_huge_bytes, huge_page_bytes());
}

TEST(PageFacts, are_right_for_shared_memory) {
  const std::size_t bytes = 64 * page_bytes();
  const int file = memfd_create("longshore-page-facts", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  ASSERT_NE(mapping, MAP_FAILED);
  touch(static_cast<std::byte*>(mapping), bytes / 2);
  const auto facts = inspect_pages(mapping, bytes);
  EXPECT_EQ(facts.resident_bytes, bytes / 2);
  if (facts.nodes) {
    EXPECT_EQ(on_all_nodes(facts), bytes / 2);
  }
  munmap(mapping, bytes);
}

TEST(PageFacts, sample_at_most_the_given_number_of_pages) {
  const pages memory(1000 * page_bytes());
  touch(memory.data(), memory.size_bytes());
  const auto facts = inspect_pages(memory.data(), memory.size_bytes(), 50);
  EXPECT_EQ(facts.pages_in_range, 1000u);
  if (!facts.nodes) GTEST_SKIP() << "the kernel does not tell where pages lie";
  EXPECT_EQ(facts.pages_sampled, 50u);
  EXPECT_NEAR(static_cast<double>(on_all_nodes(facts)), static_cast<double>(memory.size_bytes()),
              4096);
}

TEST(PageFacts, are_unknown_for_addresses_without_memory) {
  EXPECT_FALSE(inspect_pages(nullptr, 0).resident_bytes);
  const auto facts = inspect_pages(nullptr, 100);
  EXPECT_FALSE(facts.resident_bytes);
  EXPECT_FALSE(facts.transparent_huge_bytes);
  EXPECT_FALSE(facts.page_bytes_of_kernel);
}

constexpr std::string_view smaps =
    "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
    "Size:               4096 kB\nKernelPageSize:        4 kB\nRss:                3000 "
    "kB\nAnonHugePages:      2048 kB\n"
    "ShmemPmdMapped:        0 kB\nShared_Hugetlb:        0 kB\nPrivate_Hugetlb:       0 "
    "kB\nVmFlags: rd wr mr hg\n"
    "7f0000400000-7f0000800000 rw-p 00000000 00:0f 1234                       /anon_hugepage "
    "(deleted)\n"
    "KernelPageSize:     2048 kB\nRss:                   0 kB\nPrivate_Hugetlb:    4096 kB\n"
    "7f0000800000-7f0000801000 r--p 00000000 00:00 0\nSize:                  4 kB\n";

TEST(PageFacts, the_mappings_of_smaps_are_parsed) {
  const auto mappings = detail::mappings_in(smaps, 0x7f0000000000, 0x7f0000801000);
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].resident, 3000u << 10);
  EXPECT_EQ(mappings[0].transparent_huge, 2048u << 10);
  EXPECT_EQ(mappings[0].explicit_huge, 0u);
  EXPECT_EQ(mappings[0].page_bytes, 4096u);
  EXPECT_EQ(mappings[1].resident, 4096u << 10) << "explicit huge pages are not in Rss";
  EXPECT_EQ(mappings[1].explicit_huge, 4096u << 10);
  EXPECT_EQ(mappings[1].page_bytes, 2u << 20);
  EXPECT_FALSE(mappings[1].transparent_huge);
  EXPECT_FALSE(mappings[2].resident) << "a missing value is not zero";
  EXPECT_EQ(detail::mappings_in(smaps, 0x7f0000400000, 0x7f0000400001).size(), 1u);
  EXPECT_EQ(detail::mappings_in(smaps, 0x7e0000000000, 0x7f0000000000).size(), 0u);
}

}  // namespace
}  // namespace longshore

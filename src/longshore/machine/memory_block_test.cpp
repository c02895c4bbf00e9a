// Memory policies: each gives writable, aligned memory of its own kind, or the reason why not.
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/allocator_library.hpp>
#include <longshore/machine/memory_block.hpp>
#include <longshore/machine/pages.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace longshore {
namespace {

bool uses_pages_of_the_kernel(const std::string& policy) {
  return policy.starts_with("huge") || policy == "interleave";
}

TEST(MemoryBlock, is_aligned_writable_and_zero_if_the_policy_says_so) {
  int tried = 0;
  for (const auto& policy : memory_policy_names()) {
    if (why_no_memory(policy)) continue;
    ++tried;
    for (const std::size_t bytes : {1, 100, 5 << 20}) {
      if (policy == "huge-explicit" && read_huge_page_pool().free_bytes < bytes) continue;
      const memory_block block(bytes, policy);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u) << policy;
      ASSERT_EQ(block.size_bytes(), bytes);
      const bool is_zero = uses_pages_of_the_kernel(policy) || policy == "calloc";
      for (std::size_t i = 0; i < bytes && is_zero; i += 999)
        ASSERT_EQ(block.data()[i], std::byte{0}) << policy;
      std::fill_n(block.data(), bytes, std::byte{1});
    }
  }
  EXPECT_GE(tried, 4);
}

TEST(MemoryBlock, obtained_is_the_policy_in_use) {
  for (const auto& policy : memory_policy_names()) {
    if (why_no_memory(policy)) continue;
    const memory_block block(100, policy);
    const auto expected = policy != "huge"                       ? policy
                          : read_huge_page_pool().free_bytes > 0 ? "huge-explicit"
                                                                 : "huge-transparent";
    EXPECT_EQ(block.obtained(), expected);
  }
}

TEST(MemoryBlock, has_one_owner_after_a_move) {
  for (const std::string policy : {"malloc", "huge", "interleave"}) {
    if (why_no_memory(policy)) continue;
    memory_block a(1 << 20, policy);
    auto* const data = a.data();
    const memory_block b(std::move(a));
    ASSERT_EQ(b.data(), data);
    std::fill_n(b.data(), b.size_bytes(), std::byte{1});
  }
}

TEST(MemoryBlock, unknown_unavailable_and_too_large_blocks_are_refused) {
  const auto code_of = [](std::size_t bytes, std::string_view policy) {
    try {
      const memory_block block(bytes, policy);
    } catch (const error& e) {
      return e.code();
    }
    return errc{};
  };
  EXPECT_EQ(code_of(100, "mallok"), errc::usage);
  for (const auto& policy : memory_policy_names())
    EXPECT_EQ(code_of(std::size_t{1} << 50, policy),
              why_no_memory(policy) ? errc::unsupported : errc::out_of_memory)
        << policy;
}

TEST(MemoryBlock, the_reason_names_the_policy_and_a_remedy) {
  EXPECT_NE(why_no_memory("mallok").value().find(
                "unknown memory policy 'mallok': use one of malloc, calloc"),
            std::string::npos);
  for (const auto policy : {"malloc", "calloc", "huge"})
    EXPECT_FALSE(why_no_memory(policy)) << policy;
  if (read_huge_page_pool().free_bytes == 0) {
    EXPECT_NE(why_no_memory("huge-explicit").value().find("sysctl vm.nr_hugepages="),
              std::string::npos);
  } else {
    EXPECT_FALSE(why_no_memory("huge-explicit"));
  }
  for (const auto& name : detail::allocator_library_names())
    if (const auto reason = why_no_memory(name)) {
      EXPECT_TRUE(reason->starts_with("memory " + name)) << *reason;
      const bool has_remedy = reason->find("install") != std::string::npos ||
                              reason->find("GLIBC_TUNABLES=") != std::string::npos;
      EXPECT_TRUE(has_remedy) << *reason;
    }
}

TEST(AllocatorLibrary, allocates_and_releases_by_functions_of_the_library) {
  int found = 0;
  for (const auto& name : detail::allocator_library_names()) {
    const auto search = detail::find_allocator_library(name);
    if (search.missing) {
      std::printf("[   ABSENT ] %s\n", search.missing->c_str());
      continue;
    }
    ++found;
    Dl_info from{}, to{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(search.library.allocate), &from), 0);
    ASSERT_NE(dladdr(reinterpret_cast<void*>(search.library.release), &to), 0);
    EXPECT_NE(std::string(from.dli_fname).find(name), std::string::npos) << from.dli_fname;
    EXPECT_STREQ(from.dli_fname, to.dli_fname);
    for (const std::size_t bytes : {1, 4096, 5 << 20}) {
      auto* data = static_cast<unsigned char*>(search.library.allocate(bytes));
      ASSERT_NE(data, nullptr);
      std::fill_n(data, bytes, static_cast<unsigned char>(7));
      search.library.release(data);
    }
  }
  if (found == 0) GTEST_SKIP() << "none of the allocators is installed";
}

TEST(AllocatorLibrary, with_an_unknown_name_is_missing) {
  EXPECT_TRUE(detail::find_allocator_library("hoard").missing);
}

TEST(NumaNodes, lists_of_the_kernel_are_parsed) {
  EXPECT_EQ(numbers_in_list("0"), std::vector{0});
  EXPECT_EQ(numbers_in_list("0-2,7,9-10\n"), (std::vector{0, 1, 2, 7, 9, 10}));
  EXPECT_EQ(numbers_in_list(""), std::vector<int>{});
  EXPECT_EQ(numbers_in_list("3,x"), std::vector{3});
}

TEST(NumaNodes, interleaved_pages_come_from_every_allowed_node) {
  if (const auto reason = why_no_memory("interleave")) GTEST_SKIP() << *reason;
  const auto allowed = allowed_numa_nodes();
  ASSERT_FALSE(allowed.empty());
  const std::size_t count = 16 * allowed.size();
  const memory_block block(count * page_bytes(), "interleave");
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    addresses.push_back(block.data() + i * page_bytes());
    block.data()[i * page_bytes()] = std::byte{1};
  }
  const auto nodes = numa_nodes_of_pages(addresses);
  if (!nodes) GTEST_SKIP() << "the kernel does not tell where pages lie";
  for (const int node : allowed)
    EXPECT_EQ(std::ranges::count(*nodes, node), 16) << "on node " << node;
}

}  // namespace
}  // namespace longshore

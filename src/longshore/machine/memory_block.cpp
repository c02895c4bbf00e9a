#include <longshore/machine/memory_block.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/allocator_library.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/machine/numa_nodes.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace longshore {
namespace {

bool is_known(std::string_view policy) {
  const auto names = memory_policy_names();
  return std::ranges::find(names, policy) != names.end();
}

bool is_allocator_library(std::string_view policy) {
  const auto names = detail::allocator_library_names();
  return std::ranges::find(names, policy) != names.end();
}

bool uses_pages_of_the_kernel(std::string_view policy) {
  return policy.starts_with("huge") || policy == "interleave";
}

std::optional<std::string> why_no_explicit_huge_pages() {
  const huge_page_pool pool = read_huge_page_pool();
  if (pool.page_bytes == 0)
    return "memory huge-explicit: this kernel has no explicit huge pages; use huge-transparent";
  if (pool.free_bytes == 0)
    return fmt::format(
        "memory huge-explicit: the pool of explicit huge pages has no free page: as root, sysctl "
        "vm.nr_hugepages=N sets the number of pages of {} bytes",
        pool.page_bytes);
  return std::nullopt;
}

// Tries it, because the answer depends on the kernel's build options and on the filters of a
// container.
std::optional<std::string> why_no_interleaving() {
  const pages trial(page_bytes());
  if (auto reason = interleave_pages(trial.data(), page_bytes()))
    return "memory interleave: " + *reason;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> memory_policy_names() {
  return {"malloc",     "calloc",   "huge",     "huge-transparent", "huge-explicit",
          "interleave", "jemalloc", "mimalloc", "tcmalloc"};
}

std::optional<std::string> why_no_memory(std::string_view policy) {
  if (!is_known(policy)) {
    std::string names;
    for (const auto& name : memory_policy_names()) names += (names.empty() ? "" : ", ") + name;
    return fmt::format("unknown memory policy '{}': use one of {}", policy, names);
  }
  if (policy == "huge-explicit") return why_no_explicit_huge_pages();
  if (policy == "interleave") return why_no_interleaving();
  if (is_allocator_library(policy)) return detail::find_allocator_library(policy).missing;
  if (policy == "huge-transparent")
    if (const auto reason = why_no_transparent_huge_pages())
      return "memory huge-transparent: " + *reason;
  return std::nullopt;
}

memory_block::memory_block(std::size_t bytes, std::string_view policy)
    : bytes_(bytes), obtained_(policy) {
  if (const auto reason = why_no_memory(policy))
    fail(is_known(policy) ? errc::unsupported : errc::usage, "{}", *reason);
  if (uses_pages_of_the_kernel(policy)) {
    take_pages();
    return;
  }
  // Allocators grant more memory than is available, and the kernel kills the process when it writes
  // there. So this checks first.
  const std::size_t available = available_memory_bytes();
  if (bytes > available)
    fail(errc::out_of_memory,
         "{} bytes of memory requested, {} are available: use smaller arrays or fewer ranks per "
         "node",
         bytes, available);
  const std::size_t with_slack = bytes + cache_line_bytes;
  if (policy == "malloc") {
    take_allocated(std::malloc(with_slack), &std::free);
  } else if (policy == "calloc") {
    take_allocated(std::calloc(with_slack, 1), &std::free);
  } else {
    const detail::allocator_library library = detail::find_allocator_library(policy).found;
    take_allocated(library.allocate(with_slack), library.release);
  }
}

void memory_block::take_allocated(void* data, void (*release)(void*)) {
  if (data == nullptr)
    fail(errc::out_of_memory, "{} refused {} bytes: use smaller arrays or fewer ranks per node",
         obtained_, bytes_);
  allocated_ = {data, release};
  data_ = reinterpret_cast<std::byte*>(
      round_up(reinterpret_cast<std::uintptr_t>(data), cache_line_bytes));
}

void memory_block::take_pages() {
  if (obtained_ == "interleave") {
    pages_ = pages(bytes_);
    if (const auto reason = bytes_ > 0
                                ? interleave_pages(pages_.data(), round_up(bytes_, page_bytes()))
                                : std::nullopt)
      fail(errc::unsupported, "memory interleave: {}", *reason);
  } else if (obtained_ == "huge") {
    try {
      if (read_huge_page_pool().free_bytes >= bytes_ && bytes_ > 0)
        pages_ = pages::from_huge_page_pool(bytes_);
    } catch (const error&) {  // another process took the pages in the meantime
    }
    obtained_ = pages_.data() != nullptr ? "huge-explicit" : "huge-transparent";
    if (pages_.data() == nullptr) pages_ = pages(bytes_, true);
  } else {
    pages_ =
        obtained_ == "huge-explicit" ? pages::from_huge_page_pool(bytes_) : pages(bytes_, true);
  }
  data_ = pages_.data();
}

}  // namespace longshore

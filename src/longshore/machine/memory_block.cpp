// Allocates memory by a policy that the user names, from pages of the kernel, by malloc or calloc,
// or by another allocator. Explains why a policy is not available.
#include <longshore/machine/memory_block.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/joined.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/allocator_library.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace longshore {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
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

// Tries to interleave one page. The kernel's build or a container's filters may not allow it.
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
  if (!contains(memory_policy_names(), policy))
    return fmt::format("unknown memory policy '{}': use one of {}", policy,
                       detail::joined(memory_policy_names()));
  if (policy == "huge-explicit") return why_no_explicit_huge_pages();
  if (policy == "interleave") return why_no_interleaving();
  if (contains(detail::allocator_library_names(), policy))
    return detail::find_allocator_library(policy).missing;
  if (policy == "huge-transparent")
    if (const auto reason = why_no_transparent_huge_pages())
      return "memory huge-transparent: " + *reason;
  return std::nullopt;  // malloc, calloc and huge are always available
}

memory_block::memory_block(std::size_t bytes, std::string_view policy)
    : bytes_(bytes), obtained_(policy) {
  if (const auto reason = why_no_memory(policy))
    fail(contains(memory_policy_names(), policy) ? errc::unsupported : errc::usage, "{}", *reason);
  if (uses_pages_of_the_kernel(policy)) {
    take_pages();
    return;
  }
  require_available_memory(bytes);
  const std::size_t with_slack = bytes + cache_line_bytes;
  if (policy == "malloc") {
    take_allocated(std::malloc(with_slack), &std::free);
  } else if (policy == "calloc") {
    take_allocated(std::calloc(with_slack, 1), &std::free);
  } else {
    const detail::allocator_library library = detail::find_allocator_library(policy).library;
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
  constexpr bool huge = true;
  if (obtained_ == "interleave") {
    pages_ = pages(bytes_);
    if (bytes_ > 0)
      if (const auto reason = interleave_pages(pages_.data(), round_up(bytes_, page_bytes())))
        fail(errc::unsupported, "memory interleave: {}", *reason);
  } else if (obtained_ == "huge") {
    try {
      if (read_huge_page_pool().free_bytes >= bytes_ && bytes_ > 0)
        pages_ = pages::from_huge_page_pool(bytes_);
    } catch (const error&) {  // another process took the pages in the meantime
    }
    obtained_ = pages_.data() != nullptr ? "huge-explicit" : "huge-transparent";
    if (pages_.data() == nullptr) pages_ = pages(bytes_, huge);
  } else {
    pages_ =
        obtained_ == "huge-explicit" ? pages::from_huge_page_pool(bytes_) : pages(bytes_, huge);
  }
  data_ = pages_.data();
}

}  // namespace longshore

// What the kernel did with memory: page faults of the process, and of which pages a block really
// consists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace longshore {

/// Page faults since the start: minor ones found or made the page in memory, major ones had to read
/// it.
struct fault_counts {
  std::uint64_t minor = 0, major = 0;
  friend constexpr fault_counts operator-(const fault_counts& a, const fault_counts& b) noexcept {
    return {a.minor - b.minor, a.major - b.major};
  }
};

/// Of all threads of this process, also ended ones; and of the calling thread.
[[nodiscard]] fault_counts process_faults() noexcept;
[[nodiscard]] fault_counts thread_faults() noexcept;

struct bytes_on_node {
  int node = 0;
  std::size_t bytes = 0;
};

/// The pages under a range of addresses. What the system does not tell is nothing, never 0.
struct page_facts {
  std::size_t bytes = 0;  ///< of the range, as asked
  /// of pages that touch the range and have memory behind them
  std::optional<std::size_t> resident_bytes;
  std::optional<std::size_t> transparent_huge_bytes;  ///< of these, in transparent huge pages
  std::optional<std::size_t> explicit_huge_bytes;     ///< of these, in explicit huge pages
  /// The size of page that the kernel manages the range in (KernelPageSize; transparent huge pages
  /// do not count as such), of the mapping that holds most of the range.
  std::optional<std::size_t> page_bytes_of_kernel;
  /// True when mappings reach beyond the range: their huge pages were then given to it in the
  /// proportion of resident bytes.
  bool proportioned = false;
  /// Resident bytes per NUMA node, as found in a sample of pages and scaled to all; ascending by
  /// node.
  std::optional<std::vector<bytes_on_node>> nodes;
  std::size_t pages_sampled = 0, pages_in_range = 0;
};

/// Asks the kernel about [data, data + bytes), of any kind: allocated, mapped, shared. Costs a
/// reading of the process's map of memory, which the kernel makes by walking all its pages:
/// milliseconds per gigabyte. At most `most_samples` pages are asked for their node, spread evenly
/// at random within strides, so that pages placed in turn are not met in step.
[[nodiscard]] page_facts inspect_pages(const void* data, std::size_t bytes,
                                       std::size_t most_samples = 4096);

namespace detail {

/// One mapping as /proc/<pid>/smaps describes it; what a kernel does not write is nothing.
struct mapping {
  std::uintptr_t begin = 0, end = 0;
  std::optional<std::size_t> resident, transparent_huge, explicit_huge, page_bytes;
};

/// The mappings that overlap [begin, end) in the text of an smaps file.
[[nodiscard]] std::vector<mapping> mappings_in(std::string_view smaps, std::uintptr_t begin,
                                               std::uintptr_t end);

}  // namespace detail
}  // namespace longshore

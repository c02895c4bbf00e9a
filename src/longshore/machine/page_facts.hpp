// The pages that the kernel really provided for a range of memory: their sizes and NUMA nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace longshore {

struct bytes_on_node {
  int node = 0;
  std::size_t bytes = 0;
};

/// The pages of a range of addresses. Unknown values are nothing, never 0.
struct page_facts {
  std::size_t bytes = 0;  ///< size of the range
  /// total size of the pages that overlap the range and have memory
  std::optional<std::size_t> resident_bytes;
  /// the parts of resident_bytes in transparent and in explicit huge pages
  std::optional<std::size_t> transparent_huge_bytes, explicit_huge_bytes;
  /// KernelPageSize of the mapping that holds most of the range; ignores transparent huge pages
  std::optional<std::size_t> page_bytes_of_kernel;
  /// True if a mapping extends beyond the range. The huge pages of this mapping are then divided in
  /// proportion to resident bytes.
  bool proportioned = false;
  /// Resident bytes per NUMA node, ascending by node. Estimated from a sample of pages.
  std::optional<std::vector<bytes_on_node>> nodes;
  std::size_t pages_sampled = 0, pages_in_range = 0;
};

/// Asks the kernel about [data, data + bytes), which may be allocated, mapped or shared. Takes
/// milliseconds per gigabyte of the process: the kernel walks all pages to write /proc/self/smaps.
/// For the NUMA nodes, divides the range into at most `max_samples` equal strides and samples a
/// random page of each stride. Pages at fixed distances would resonate with interleaving.
[[nodiscard]] page_facts inspect_pages(const void* data, std::size_t bytes,
                                       std::size_t max_samples = 4096);

namespace detail {

/// One mapping of /proc/<pid>/smaps. Values that the kernel does not write are nothing.
struct mapping {
  std::uintptr_t begin = 0, end = 0;
  std::optional<std::size_t> resident, transparent_huge, explicit_huge, page_bytes;
};

/// The mappings in the text of an smaps file that overlap [begin, end).
[[nodiscard]] std::vector<mapping> mappings_in(std::string_view smaps, std::uintptr_t begin,
                                               std::uintptr_t end);

}  // namespace detail
}  // namespace longshore

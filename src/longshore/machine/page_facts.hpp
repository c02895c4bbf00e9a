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

/// The pages of a range of addresses. A value that the system does not tell is nothing, never 0.
struct page_facts {
  std::size_t bytes = 0;  ///< size of the range
  /// size of the pages that overlap the range and have memory
  std::optional<std::size_t> resident_bytes;
  std::optional<std::size_t> transparent_huge_bytes;  ///< of these, in transparent huge pages
  std::optional<std::size_t> explicit_huge_bytes;     ///< of these, in explicit huge pages
  /// The kernel's page size for the range (KernelPageSize, which ignores transparent huge pages),
  /// in the mapping that holds most of the range.
  std::optional<std::size_t> page_bytes_of_kernel;
  /// True if a mapping extends beyond the range. The range then gets a share of its huge pages in
  /// proportion to resident bytes.
  bool proportioned = false;
  /// Resident bytes per NUMA node, ascending by node. Estimated from a sample of pages.
  std::optional<std::vector<bytes_on_node>> nodes;
  std::size_t pages_sampled = 0, pages_in_range = 0;
};

/// Asks the kernel about [data, data + bytes), which may be allocated, mapped or shared. Reads the
/// process's map of memory; the kernel makes it by walking all pages, which takes milliseconds per
/// gigabyte. Samples the nodes of at most `max_samples` pages: a random page of each of as many
/// equal strides, so that the sample does not resonate with interleaved pages.
[[nodiscard]] page_facts inspect_pages(const void* data, std::size_t bytes,
                                       std::size_t max_samples = 4096);

namespace detail {

/// One mapping of /proc/<pid>/smaps. A value that the kernel does not write is nothing.
struct mapping {
  std::uintptr_t begin = 0, end = 0;
  std::optional<std::size_t> resident, transparent_huge, explicit_huge, page_bytes;
};

/// The mappings in the text of an smaps file that overlap [begin, end).
[[nodiscard]] std::vector<mapping> mappings_in(std::string_view smaps, std::uintptr_t begin,
                                               std::uintptr_t end);

}  // namespace detail
}  // namespace longshore

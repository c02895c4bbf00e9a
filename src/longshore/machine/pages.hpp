// Fresh pages from the kernel, and their NUMA nodes. The first write to a page decides on which
// node the page lies, unless the pages are interleaved.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

[[nodiscard]] std::size_t page_bytes() noexcept;
/// Size of a transparent huge page; 2 MiB if the kernel does not tell.
[[nodiscard]] std::size_t huge_page_bytes();

/// An anonymous private mapping, initially zero. Movable; freed with the object.
class pages {
 public:
  pages() = default;
  /// Maps at least `bytes` bytes, aligned to a page. If `huge` is true and the bytes fill a huge
  /// page, aligns to a huge page and requests transparent huge pages. The kernel may deny that
  /// request. Throws errc::out_of_memory if less memory is available.
  explicit pages(std::size_t bytes, bool huge = false);
  /// Maps at least `bytes` bytes of explicit huge pages, reserved at once. Throws
  /// errc::out_of_memory if the pool has too few pages.
  [[nodiscard]] static pages from_huge_page_pool(std::size_t bytes);
  /// Like pages(bytes), but does not check the available memory. For callers that have checked it,
  /// and never touch most of the pages.
  [[nodiscard]] static pages reserved(std::size_t bytes);
  ~pages();
  pages(pages&& other) noexcept;
  pages& operator=(pages&& other) noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  void swap(pages& other) noexcept;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

/// The kernel's pool of explicit huge pages of the default size.
struct huge_page_pool {
  std::size_t page_bytes = 0;  ///< size of a page; 0 if this kernel has no such pages
  /// bytes that are neither in use nor reserved, including pages that the kernel adds on demand
  std::size_t free_bytes = 0;
};
[[nodiscard]] huge_page_pool read_huge_page_pool();

/// Why requests for transparent huge pages of private memory have no effect; nothing if they work.
[[nodiscard]] std::optional<std::string> why_no_transparent_huge_pages();

/// Requests transparent huge pages for the complete pages of [data, data + bytes). Has no effect if
/// transparent huge pages are off.
void prefer_huge_pages(void* data, std::size_t bytes) noexcept;

/// Parses a list of numbers in the kernel's notation: "0-2,7" is 0, 1, 2, 7. Stops at the first
/// invalid character.
[[nodiscard]] std::vector<int> numbers_in_list(std::string_view list);

/// NUMA nodes with memory on which this process may allocate, ascending. Never empty: {0} if the
/// kernel does not tell.
[[nodiscard]] std::vector<int> allowed_numa_nodes();

/// Asks the kernel to place the pages of [data, data + bytes) round-robin on allowed_numa_nodes().
/// REQUIRES: the range is page-aligned and not yet touched. Returns nothing, or the reason if the
/// kernel refuses. Never fails if there is one node.
[[nodiscard]] std::optional<std::string> interleave_pages(void* data, std::size_t bytes);

/// For each address, the node of its page; negative for a page without memory. Returns nothing if
/// the kernel does not tell (move_pages is missing, or a container forbids it).
[[nodiscard]] std::optional<std::vector<int>> numa_nodes_of_pages(std::span<void* const> addresses);

}  // namespace longshore

// Fresh pages from the kernel. The first write to a page decides on which NUMA node it lies.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace longshore {

/// Size of a page.
[[nodiscard]] std::size_t page_bytes() noexcept;
/// Size of a transparent huge page; 2 MiB if the kernel does not tell.
[[nodiscard]] std::size_t huge_page_bytes();

/// An anonymous private mapping, initially zero. Movable; freed with the object.
class pages {
 public:
  pages() = default;
  /// Maps at least `bytes` bytes, aligned to a page. With `huge` they are aligned to a huge page,
  /// and transparent huge pages are requested; the kernel may ignore the request. Throws
  /// errc::out_of_memory if less memory is available, before the kernel would kill the process.
  explicit pages(std::size_t bytes, bool huge = false);
  /// Maps at least `bytes` bytes of explicit huge pages, reserved at once. Throws
  /// errc::out_of_memory if the pool has too few.
  [[nodiscard]] static pages from_huge_page_pool(std::size_t bytes);
  ~pages();
  pages(pages&& other) noexcept { swap(other); }
  pages& operator=(pages&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  void swap(pages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapping_bytes_, other.mapping_bytes_);
  }
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
};

/// The kernel's pool of explicit huge pages of its default size.
struct huge_page_pool {
  std::size_t page_bytes = 0;  ///< size of a page; 0: this kernel has no such pages
  /// bytes that are neither in use nor reserved, including pages that the kernel adds on demand
  std::size_t free_bytes = 0;
};
[[nodiscard]] huge_page_pool read_huge_page_pool();

/// Why the kernel gives no transparent huge pages to private memory on request; nothing if it does.
[[nodiscard]] std::optional<std::string> why_no_transparent_huge_pages();

/// Requests transparent huge pages for the whole pages of [data, data + bytes). Has no effect if
/// they are off.
void prefer_huge_pages(void* data, std::size_t bytes) noexcept;

}  // namespace longshore

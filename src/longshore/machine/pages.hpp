// Memory straight from the kernel, untouched: whoever writes a page first decides on which NUMA
// node it lies.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace longshore {

/// Size of a page, and of a transparent huge page (what the kernel says, 2 MiB where it does not).
[[nodiscard]] std::size_t page_bytes() noexcept;
[[nodiscard]] std::size_t huge_page_bytes();

/// An anonymous mapping, zero on first touch, private to this process. Movable, freed with the
/// object.
class pages {
 public:
  pages() = default;
  /// At least `bytes` bytes, aligned to a page, or to a huge page when `huge`: then transparent
  /// huge pages are asked for (a request: the kernel may refuse). Throws errc::out_of_memory when
  /// more is asked than there is, before the kernel kills for it.
  explicit pages(std::size_t bytes, bool huge = false);
  /// At least `bytes` bytes of explicit huge pages, reserved at once. Throws errc::out_of_memory
  /// when the pool has too few.
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
  std::size_t page_bytes = 0;  ///< 0: this kernel has none
  /// not in use and not promised to anybody, with those that the kernel would add on demand
  std::size_t free_bytes = 0;
};
[[nodiscard]] huge_page_pool explicit_huge_pages();

/// Why the kernel would not give transparent huge pages to private memory that asks for them, or
/// nothing.
[[nodiscard]] std::optional<std::string> why_no_transparent_huge_pages();

/// Asks for transparent huge pages in the part of [data, data + bytes) that holds whole ones. Does
/// nothing where they are off.
void prefer_huge_pages(void* data, std::size_t bytes) noexcept;

}  // namespace longshore

// An allocator for the program's own arrays whose memory the other processes of the node can map:
//
//     std::vector<double, longshore::shared_allocator<double>> cells(nx * ny * nz);
//     longshore::field_view<double> u(cells.data() + first, extents, strides, widths);
//
// Halo plans find such memory by its address. Mode direct then exchanges the view as fast as a
// longshore::field, without packing.
#pragma once

#include <longshore/core/error.hpp>

#include <cstddef>
#include <limits>

namespace longshore {

namespace detail {
/// Zeroed memory, aligned to a page. Throws errc::out_of_memory.
[[nodiscard]] void* allocate_shared(std::size_t bytes);
void free_shared(void* memory) noexcept;
}  // namespace detail

/// A C++20 allocator without state: all its objects are equal, and containers may exchange memory.
///
/// allocate() and deallocate() are local, and any thread may call them. Each allocation costs whole
/// pages, a file descriptor and some 10 us. So use it for arrays, not for many small objects. If
/// the system cannot share memory, the memory is private, and halo messages are packed. Do not free
/// memory while a plan uses it. After fork(2) parent and child share the memory.
template <class T>
class shared_allocator {
 public:
  using value_type = T;

  constexpr shared_allocator() noexcept = default;
  template <class U>
  constexpr shared_allocator(const shared_allocator<U>&) noexcept {
  }  // implicit, as allocators must be

  /// Memory for `count` objects. Throws errc::out_of_memory.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T))
      fail(errc::out_of_memory, "an array of {} elements is more than any memory holds", count);
    return static_cast<T*>(detail::allocate_shared(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { detail::free_shared(memory); }

  template <class U>
  friend constexpr bool operator==(const shared_allocator&, const shared_allocator<U>&) noexcept {
    return true;
  }
};

}  // namespace longshore

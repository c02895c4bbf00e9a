// A field of a ghost exchange: views of the memory of a rank's elements and of its ghosts.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/exchange/combine_op.hpp>

#include <cstddef>

namespace longshore {

/// The memory of one field, without the type of its elements. `owned` and `ghosts` may lie anywhere
/// in one array or in two, but must not overlap.
struct ghost_memory {
  std::byte* owned = nullptr;   ///< the first owned element; null if the rank owns no element
  std::byte* ghosts = nullptr;  ///< the first ghost; null if the rank has no ghosts
  std::size_t element_bytes = 0;
  /// The distance from one element to the next. It may be negative.
  std::ptrdiff_t owned_stride_bytes = 0, ghost_stride_bytes = 0;
  const detail::element_type* type = nullptr;
};

/// One field. It has a value for each owned element and for each ghost of a graph, in the same
/// order. A field is a view, which does not own the memory.
///
///     std::vector<double> x(owned + ghosts);                       // ghosts after the elements
///     longshore::ghost_field all(x.data(), x.data() + owned);
///     std::vector<point> points(owned + ghosts);                   // an array of structs
///     longshore::ghost_field mass(&points[0].mass, &points[owned].mass, sizeof(point));
///
/// Between processes, memory of `shared_allocator` is read directly. Other memory is packed.
template <trivially_copyable T>
class ghost_field {
 public:
  /// Contiguous elements.
  ghost_field(T* owned, T* ghosts) : ghost_field(owned, ghosts, sizeof(T)) {}
  /// Elements every `stride_bytes` bytes, in both memories.
  ghost_field(T* owned, T* ghosts, std::ptrdiff_t stride_bytes)
      : ghost_field(owned, stride_bytes, ghosts, stride_bytes) {}
  ghost_field(T* owned, std::ptrdiff_t owned_stride_bytes, T* ghosts,
              std::ptrdiff_t ghost_stride_bytes)
      : memory_{reinterpret_cast<std::byte*>(owned),
                reinterpret_cast<std::byte*>(ghosts),
                sizeof(T),
                owned_stride_bytes,
                ghost_stride_bytes,
                &detail::element_type_of<T>} {}

  [[nodiscard]] const ghost_memory& memory() const noexcept { return memory_; }

 private:
  ghost_memory memory_;
};

}  // namespace longshore

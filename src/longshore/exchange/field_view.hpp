// A field: a block of cells with a halo around it, in memory of the user. A cell may also be a vertex,
// an edge or a face: a point that blocks may share.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/exchange/combine_op.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace longshore {

/// The number of halo cells on the low and on the high side of each dimension, in the order x, y, z.
/// A side of width 0 receives nothing.
struct halo_widths {
  std::array<int, 3> low{}, high{};

  constexpr halo_widths() = default;
  /// The same width on every side.
  constexpr halo_widths(int width)  // NOLINT: implicit, so that users can write {.width = 2}
      : low{width, width, width}, high{width, width, width} {}
  constexpr halo_widths(std::array<int, 3> low_sides, std::array<int, 3> high_sides)
      : low(low_sides), high(high_sides) {}

  friend constexpr bool operator==(const halo_widths&, const halo_widths&) = default;
};

/// The memory of a field, without its element type. Arrays are in the order x, y, z. Along
/// dimensions that the grid does not have, extents are 1 and widths 0.
struct field_memory {
  std::byte* first = nullptr;  ///< the interior cell (0, 0, 0)
  std::size_t element_bytes = 0;
  const detail::element_type* type = nullptr;  ///< ranks compare its name
  std::array<std::size_t, 3> extents{};        ///< cells of the interior
  std::array<std::ptrdiff_t, 3> strides_bytes{};
  /// Halo cells that exist in memory on each side. A side at a border of the domain needs none.
  halo_widths widths;
  /// The layers of cells that the block shares with the next block along each dimension
  /// (field_options).
  std::array<int, 3> shared{};
  /// The shareable memory that holds the field. Its size is 0 if there is none.
  shared_memory_handle memory;
  /// Expires when the shareable memory is freed. Empty if the library cannot know.
  std::weak_ptr<const void> lifetime = {};

  /// Sets the shareable memory that holds the field.
  void set_memory(const shareable_memory& holder) {
    memory = holder.handle();
    lifetime = holder.lifetime();
  }
};

struct field_options {
  /// The layers that neighbouring blocks both have, along x, y and z: 0 for a field of cells. A
  /// field of vertices has {1, 1, 1}: the last layer of a block is the first layer of the next
  /// block. So the vertices of n cells are n + 1 interior cells of the field. A field of the faces
  /// across x has {1, 0, 0}. The block on the low side owns a shared layer.
  std::array<int, 3> shared{};
  /// The shareable memory that holds all cells. Mode direct needs it to read the cells from other
  /// processes. If it is null, plans look for shareable memory at the first cell. Cells outside
  /// shareable memory are packed.
  const shareable_memory* shareable = nullptr;
};

/// A field in the user's memory, with cells u(z, y, x), u(y, x) or u(x). Index x is contiguous
/// unless the strides say otherwise. Interior cells have 0 <= x < nx, where nx is the extent along
/// x. The same holds for y and z. Cells with other indices are halo. Copies of a view refer to the
/// same memory, which must exist as long as a plan uses the field.
template <trivially_copyable T>
class field_view {
 public:
  field_view() = default;
  /// `first` is the interior cell (0, 0, 0). Extents and strides are in the order x, y, z. Strides
  /// count elements, and may have any sign and order. Extents of unused dimensions are 1 or 0.
  field_view(T* first, std::array<std::size_t, 3> extents, std::array<std::ptrdiff_t, 3> strides,
             halo_widths widths, const field_options& options = {})
      : first_(first), strides_(strides) {
    for (auto& extent : extents) extent = extent == 0 ? 1 : extent;
    memory_ = {.first = reinterpret_cast<std::byte*>(first),
               .element_bytes = sizeof(T),
               .type = &detail::element_type_of<std::remove_const_t<T>>,
               .extents = extents,
               .strides_bytes = {},
               .widths = widths,
               .shared = options.shared,
               .memory = {}};
    if (options.shareable != nullptr) memory_.set_memory(*options.shareable);
    for (int d = 0; d < 3; ++d)
      memory_.strides_bytes[d] = strides[d] * static_cast<std::ptrdiff_t>(sizeof(T));
  }

  [[nodiscard]] T& operator()(std::ptrdiff_t z, std::ptrdiff_t y, std::ptrdiff_t x) const noexcept {
    return first_[z * strides_[2] + y * strides_[1] + x * strides_[0]];
  }
  [[nodiscard]] T& operator()(std::ptrdiff_t y, std::ptrdiff_t x) const noexcept {
    return (*this)(0, y, x);
  }
  [[nodiscard]] T& operator()(std::ptrdiff_t x) const noexcept { return (*this)(0, 0, x); }

  /// The number of interior cells along x, y, z.
  [[nodiscard]] const std::array<std::size_t, 3>& extents() const noexcept {
    return memory_.extents;
  }
  /// The number of elements from one cell to the next along x, y, z.
  [[nodiscard]] const std::array<std::ptrdiff_t, 3>& strides() const noexcept { return strides_; }
  [[nodiscard]] const halo_widths& widths() const noexcept { return memory_.widths; }
  /// The layers that the block shares with the next block along x, y, z.
  [[nodiscard]] const std::array<int, 3>& shared() const noexcept { return memory_.shared; }
  [[nodiscard]] const field_memory& memory() const noexcept { return memory_; }

 protected:
  T* first_ = nullptr;
  std::array<std::ptrdiff_t, 3> strides_{};
  field_memory memory_;
};

}  // namespace longshore

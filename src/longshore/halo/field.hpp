// Fields: a rank's block of cells with a halo around it, in memory of the library or of the user.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/halo/halo_widths.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/shareable_memory.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace longshore {

/// The memory of a field, without its element type. Arrays are in the order x, y, z. Beyond the
/// grid's dimensions extents are 1 and widths 0.
struct field_memory {
  std::byte* first = nullptr;  ///< the interior cell (0, 0, 0)
  std::size_t element_bytes = 0;
  std::array<std::size_t, 3> extents{};  ///< cells of the interior
  std::array<std::ptrdiff_t, 3> strides_bytes{};
  halo_widths widths;  ///< cells of halo that exist in memory on each side
  /// the memory that holds the field, if other processes can map it; else 0 bytes
  memory_handle memory;
};

/// A field in the user's memory. `u(z, y, x)` is a cell; x is contiguous unless the strides say
/// otherwise. The interior is 0 <= x < nx, and so on for y and z. Negative indices, and indices
/// from nx on, are halo. Fewer dimensions have u(y, x) and u(x). Copies of a view refer to the same
/// memory. The user keeps this memory alive as long as a plan uses it.
template <trivially_copyable T>
class field_view {
 public:
  field_view() = default;
  /// `first` is interior cell (0, 0, 0). Strides are in elements, of any sign and order. Extents
  /// and strides are in the order x, y, z; extents of unused dimensions are 1 or 0. `lies_in`: the
  /// memory that holds all cells, if neighbours may read it (mode direct between processes).
  /// Without it, cells are packed.
  field_view(T* first, std::array<std::size_t, 3> extents, std::array<std::ptrdiff_t, 3> strides,
             halo_widths widths, const shareable_memory* lies_in = nullptr)
      : first_(first), strides_(strides) {
    for (auto& extent : extents) extent = extent == 0 ? 1 : extent;
    memory_ = {reinterpret_cast<std::byte*>(first), sizeof(T), extents, {}, widths, {}};
    if (lies_in != nullptr) memory_.memory = lies_in->handle();
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

  /// Interior cells along x, y, z.
  [[nodiscard]] const std::array<std::size_t, 3>& extents() const noexcept {
    return memory_.extents;
  }
  /// Elements from one cell to the next along x, y, z.
  [[nodiscard]] const std::array<std::ptrdiff_t, 3>& strides() const noexcept { return strides_; }
  [[nodiscard]] const halo_widths& widths() const noexcept { return memory_.widths; }
  [[nodiscard]] const field_memory& memory() const noexcept { return memory_; }

 protected:
  T* first_ = nullptr;
  std::array<std::ptrdiff_t, 3> strides_{};
  field_memory memory_;
};

/// A field that owns its memory, which neighbours on the node can read. Rows have no gaps between
/// them. All cells are zero at first. Movable; a plan made for the field stays valid when it moves.
template <trivially_copyable T>
class field : public field_view<T> {
 public:
  /// Local. `extents`: interior cells of this rank along x, y, z. Dimensions beyond those of the
  /// grid get extent 1 and no halo. Throws errc::usage for a negative width, errc::out_of_memory.
  /// Memory: the cells with their halo.
  field(const rank_grid& grid, std::array<std::size_t, 3> extents, halo_widths widths) {
    std::array<std::ptrdiff_t, 3> strides{};
    std::ptrdiff_t stride = 1, first = 0;
    for (int d = 0; d < 3; ++d) {
      if (d >= grid.dimensions()) extents[d] = 1, widths.low[d] = widths.high[d] = 0;
      if (widths.low[d] < 0 || widths.high[d] < 0)
        fail(errc::usage, "a halo of {} and {} cells along dimension {}: widths must be 0 or more",
             widths.low[d], widths.high[d], d);
      strides[d] = stride;
      first += widths.low[d] * stride;
      const auto row = static_cast<std::ptrdiff_t>(extents[d]) + widths.low[d] + widths.high[d];
      if (__builtin_mul_overflow(stride, row, &stride) ||
          stride > PTRDIFF_MAX / static_cast<std::ptrdiff_t>(2 * sizeof(T)))
        fail(errc::out_of_memory,
             "a field of {} x {} x {} cells with its halo is more than any memory holds",
             extents[0], extents[1], extents[2]);
    }
    cells_ = shareable_memory(grid.ranks(), static_cast<std::size_t>(stride) * sizeof(T));
    static_cast<field_view<T>&>(*this) = field_view<T>(reinterpret_cast<T*>(cells_.data()) + first,
                                                       extents, strides, widths, &cells_);
  }

 private:
  shareable_memory cells_;
};

}  // namespace longshore

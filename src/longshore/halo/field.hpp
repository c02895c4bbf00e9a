// Fields: a block of cells with a halo around it, in memory of the library or of the user.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/halo/detail/strided_block.hpp>
#include <longshore/halo/halo_widths.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/readable_memory.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace longshore {

/// Memory of a field without its type. Arrays are in the order x, y, z; beyond the grid's
/// dimensions extents are 1 and widths 0.
struct field_memory {
  std::byte* first = nullptr;  ///< the interior cell (0, 0, 0)
  std::size_t element_bytes = 0;
  std::array<std::size_t, 3> extents{};  ///< cells of the interior
  std::array<std::ptrdiff_t, 3> strides_bytes{};
  halo_widths widths;  ///< cells of halo that exist in memory on each side
  /// what it lies in, where that can be read by other processes; else 0 bytes
  memory_ticket memory;

  /// The box of `size` cells from cell `begin`, counted from the first interior cell; negative in
  /// the halo.
  [[nodiscard]] detail::strided_block block(const std::array<std::ptrdiff_t, 3>& begin,
                                            const std::array<std::size_t, 3>& size) const noexcept {
    detail::strided_block box{first, element_bytes, size, strides_bytes};
    for (int d = 0; d < 3; ++d) box.first += begin[d] * strides_bytes[d];
    return box;
  }
};

/// A field in the user's memory. `u(z, y, x)` is a cell, x being the index that is contiguous
/// unless strides say otherwise; the interior is 0 <= x < nx and so on, negative indices and those
/// from nx on are halo. u(y, x) and u(x) for fewer dimensions. Copies refer to the same memory,
/// which the user keeps for as long as a plan uses it.
template <trivially_copyable T>
class field_view {
 public:
  field_view() = default;
  /// `first` is interior cell (0, 0, 0); strides are in elements, of any sign and order. Extents
  /// and strides are given as x, y, z; with fewer dimensions the rest of `extents` is 1 or 0.
  /// `lies_in`: the memory of all that, when neighbours may read it (mode direct between
  /// processes); otherwise cells are packed.
  field_view(T* first, std::array<std::size_t, 3> extents, std::array<std::ptrdiff_t, 3> strides,
             halo_widths widths, const readable_memory* lies_in = nullptr)
      : first_(first), strides_(strides) {
    for (auto& extent : extents) extent = extent == 0 ? 1 : extent;
    memory_ = {reinterpret_cast<std::byte*>(first), sizeof(T), extents, {}, widths, {}};
    if (lies_in != nullptr) memory_.memory = lies_in->ticket();
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

/// A field that owns its memory: rows without gaps between them, zero at first; neighbours on the
/// node can read it. Movable; a plan made for it stays valid when it moves.
template <trivially_copyable T>
class field : public field_view<T> {
 public:
  /// Local. `extents`: interior cells of this rank along x, y, z. Dimensions that the grid does not
  /// have get extent 1 and no halo. Throws errc::out_of_memory. Memory: the cells with their halo.
  field(const rank_grid& grid, std::array<std::size_t, 3> extents, halo_widths widths) {
    std::array<std::ptrdiff_t, 3> strides{};
    std::ptrdiff_t stride = 1, first = 0;
    for (int d = 0; d < 3; ++d) {
      if (d >= grid.dimensions()) extents[d] = 1, widths.low[d] = widths.high[d] = 0;
      if (widths.low[d] < 0 || widths.high[d] < 0)
        fail(errc::usage, "a halo of {} and {} cells along dimension {}: 0 or more", widths.low[d],
             widths.high[d], d);
      strides[d] = stride;
      first += widths.low[d] * stride;
      const auto row = static_cast<std::ptrdiff_t>(extents[d]) + widths.low[d] + widths.high[d];
      if (__builtin_mul_overflow(stride, row, &stride) ||
          stride > PTRDIFF_MAX / static_cast<std::ptrdiff_t>(2 * sizeof(T)))
        fail(errc::out_of_memory,
             "a field of {} x {} x {} cells and its halo is more than any memory holds", extents[0],
             extents[1], extents[2]);
    }
    cells_ = readable_memory(grid.ranks(), static_cast<std::size_t>(stride) * sizeof(T));
    static_cast<field_view<T>&>(*this) = field_view<T>(reinterpret_cast<T*>(cells_.data()) + first,
                                                       extents, strides, widths, &cells_);
  }

 private:
  readable_memory cells_;
};

}  // namespace longshore

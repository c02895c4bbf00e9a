// A field that owns its memory: a rank's block of cells with a halo around it.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/dense_layout.hpp>
#include <longshore/exchange/field_view.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <array>
#include <cstddef>

namespace longshore {

/// A field that owns its memory, which neighbours on the node can read. There are no gaps between
/// rows. All cells are zero at first. Movable; a plan stays valid when its fields are moved.
template <trivially_copyable T>
class field : public field_view<T> {
 public:
  /// Local. `extents` are the interior cells of this rank along x, y, z. Dimensions that the grid
  /// does not have get extent 1 and no halo. `shared` is that of field_options. Throws errc::usage
  /// for a negative width, errc::out_of_memory. Memory: interior and halo cells.
  field(const rank_grid& grid, std::array<std::size_t, 3> extents, halo_widths widths,
        const std::array<int, 3>& shared = {}) {
    for (int d = 0; d < 3; ++d) {
      if (d >= grid.dimensions()) extents[d] = 1, widths.low[d] = widths.high[d] = 0;
      if (widths.low[d] < 0 || widths.high[d] < 0)
        fail(errc::usage, "a halo of {} and {} cells along {}: widths must be 0 or more",
             widths.low[d], widths.high[d], axis_names[d]);
    }
    const auto layout = detail::dense_layout_of(extents, widths, sizeof(T));
    cells_ = shareable_memory(grid.ranks(), layout.cells * sizeof(T));
    static_cast<field_view<T>&>(*this) =
        field_view<T>(reinterpret_cast<T*>(cells_.data()) + layout.first, extents, layout.strides,
                      widths, {.shared = shared, .shareable = &cells_});
  }

 private:
  shareable_memory cells_;
};

}  // namespace longshore

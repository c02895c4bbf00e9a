// The positions of the cells of a field without gaps between its rows.
#pragma once

#include <longshore/exchange/field_view.hpp>

#include <array>
#include <cstddef>

namespace longshore::detail {

struct dense_layout {
  std::array<std::ptrdiff_t, 3> strides{};  ///< in cells
  std::size_t first = 0;                    ///< the cells before the first interior cell
  std::size_t cells = 0;                    ///< interior and halo
};

/// The layout of `extents` interior cells and a halo. Throws errc::out_of_memory if no memory holds
/// it. REQUIRES: no width is negative.
[[nodiscard]] dense_layout dense_layout_of(const std::array<std::size_t, 3>& extents,
                                           const halo_widths& widths, std::size_t cell_bytes);

}  // namespace longshore::detail

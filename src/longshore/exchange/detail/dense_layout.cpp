// Computes strides and sizes, and checks that they do not overflow.
#include <longshore/exchange/detail/dense_layout.hpp>

#include <longshore/core/error.hpp>

#include <cstdint>

namespace longshore {

detail::dense_layout detail::dense_layout_of(const std::array<std::size_t, 3>& extents,
                                             const halo_widths& widths, std::size_t cell_bytes) {
  dense_layout layout;
  layout.cells = 1;
  for (int d = 0; d < 3; ++d) {
    layout.strides[d] = static_cast<std::ptrdiff_t>(layout.cells);
    const auto low = static_cast<std::size_t>(widths.low[d]),
               high = static_cast<std::size_t>(widths.high[d]);
    layout.first += low * layout.cells;
    std::size_t row = 0;
    if (__builtin_add_overflow(extents[d], low + high, &row) ||
        __builtin_mul_overflow(layout.cells, row, &layout.cells) ||
        layout.cells > PTRDIFF_MAX / 2 / cell_bytes)
      fail(errc::out_of_memory,
           "a field of {} x {} x {} cells with its halo is more than any memory holds", extents[0],
           extents[1], extents[2]);
  }
  return layout;
}

}  // namespace longshore

// The number of halo cells on each side of a block.
#pragma once

#include <array>

namespace longshore {

/// The widths on the low and on the high side of each dimension, in the order x, y, z. A side of
/// width 0 receives nothing.
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

}  // namespace longshore

// A placement by levels or a rank order, whichever a search finds best.
#pragma once

#include <longshore/machine/placement.hpp>
#include <longshore/machine/placement_traffic.hpp>

#include <span>
#include <variant>

namespace longshore {

/// A map between positions and coordinates in the grid of ranks.
using arrangement = std::variant<placement, rank_order>;

[[nodiscard]] grid_triple shape_of(const arrangement& arranged) noexcept;
[[nodiscard]] grid_triple coordinates_of(const arrangement& arranged, int position) noexcept;
[[nodiscard]] int position_at(const arrangement& arranged, const grid_triple& coordinates) noexcept;

[[nodiscard]] level_crossing crossing_of(const arrangement& arranged,
                                         std::span<const hardware_level> levels,
                                         const halo_load& load);

}  // namespace longshore

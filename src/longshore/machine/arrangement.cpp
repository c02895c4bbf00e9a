// Asks the placement or the rank order that an arrangement is.
#include <longshore/machine/arrangement.hpp>

namespace longshore {

grid_triple shape_of(const arrangement& arranged) noexcept {
  return std::visit([](const auto& map) { return map.shape(); }, arranged);
}

grid_triple coordinates_of(const arrangement& arranged, int position) noexcept {
  return std::visit([&](const auto& map) { return map.coordinates_of(position); }, arranged);
}

int position_at(const arrangement& arranged, const grid_triple& coordinates) noexcept {
  return std::visit([&](const auto& map) { return map.position_at(coordinates); }, arranged);
}

level_crossing crossing_of(const arrangement& arranged, std::span<const hardware_level> levels,
                           const halo_load& load) {
  if (const auto* placed = std::get_if<placement>(&arranged)) {
    placed->check(levels);
    return crossing_of(*placed, load);
  }
  return crossing_of(std::get<rank_order>(arranged), levels, load);
}

}  // namespace longshore

// The placement of ranks in pattern halo: its factors, the requested grid, and facts for records.
#pragma once

#include <longshore/halo/placed_grid.hpp>

#include "harness/pattern.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace longshore::bench {

/// The level of a factor of type triple as an array.
template <class T>
std::array<T, 3> triple(const json& level) {
  return {level.at(0).get<T>(), level.at(1).get<T>(), level.at(2).get<T>()};
}

/// The factors node, socket, numa, l3, core and order, which only placement levels uses.
[[nodiscard]] std::vector<factor> factors_of_levels();

/// Throws errc::usage if one of those factors is requested without placement levels, or if
/// placement levels is requested without a grid of any level. `requested` has the levels of each
/// factor.
void check_levels(const std::map<std::string, std::vector<json>>& requested);

/// The requested grid of ranks, with the messages of its exchange.
[[nodiscard]] grid_options grid_of(const variant& levels);

/// The shape of the grid, found without placing ranks.
[[nodiscard]] std::array<int, 3> expected_shape(const grid_options& options, int ranks);

/// Collective. Describes the placement, and the traffic across each level of the machine. Adds the
/// traffic of MPI's Cartesian order on the same grid.
[[nodiscard]] json placement_facts(team& team, const placed_grid& grid,
                                   const grid_options& options);

}  // namespace longshore::bench

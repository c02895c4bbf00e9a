// The placement of ranks in a variant of pattern halo: factors, the requested grid, and facts about
// the result.
#pragma once

#include <longshore/halo/placed_grid.hpp>

#include "harness/pattern.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace longshore::bench {

/// A level of a factor of triples.
template <class T>
std::array<T, 3> triple(const json& level) {
  return {level.at(0).get<T>(), level.at(1).get<T>(), level.at(2).get<T>()};
}

/// Node, socket, numa, l3, core and order: only for placement levels.
[[nodiscard]] std::vector<factor> factors_of_levels();

/// Throws errc::usage if those factors occur without placement levels, or placement levels without
/// them.
void check_levels(const std::map<std::string, std::vector<json>>& asked);

/// The traffic of each rank, and the requested arrangement of ranks.
[[nodiscard]] grid_options grid_of(const variant& what);

/// The grid of ranks of a variant, as expected before ranks are placed.
[[nodiscard]] std::array<int, 3> expected_shape(const grid_options& options, int ranks);

/// Collective. Places of the ranks, and traffic across each level of the machine, here and in MPI's
/// Cartesian order on the same grid.
[[nodiscard]] json placement_facts(team& team, const placed_grid& grid,
                                   const grid_options& options);

}  // namespace longshore::bench

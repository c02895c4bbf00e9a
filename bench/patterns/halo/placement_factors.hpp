// What a variant of pattern halo says of the placement of its ranks: its factors, the grid that they ask for, and what comes of
// it.
#pragma once

#include <longshore/halo/placed_grid.hpp>

#include "harness/pattern.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace longshore::bench {

/// A level that is a triple.
template <class T>
std::array<T, 3> triple(const json& level) {
  return {level.at(0).get<T>(), level.at(1).get<T>(), level.at(2).get<T>()};
}

/// Node, socket, numa, l3, core and order: they go with placement levels only.
[[nodiscard]] std::vector<factor> factors_of_levels();

/// Throws errc::usage where they are given without that placement, or it without them.
void check_levels(const std::map<std::string, std::vector<json>>& asked);

/// What each rank exchanges, and how ranks are to be arranged.
[[nodiscard]] grid_options grid_of(const variant& what);

/// The grid of ranks that a variant has, as far as can be said before ranks are placed.
[[nodiscard]] std::array<int, 3> expected_shape(const grid_options& options, int ranks);

/// Where the ranks are, and what crosses each level of the machine, here and in MPI's Cartesian order on the same grid.
/// Collective.
[[nodiscard]] json placement_facts(team& team, const placed_grid& grid, const grid_options& options);

}  // namespace longshore::bench

// All grids of a number of ranks, and the best of them.
#pragma once

#include <longshore/machine/placement.hpp>

#include <numeric>
#include <optional>

namespace longshore::detail {

/// Visits every grid (x, y, z) of `count` objects that divides `block`, by ascending x, then y.
template <class Visit>
void for_each_factorisation(int count, const grid_triple& block, const Visit& visit) {
  const int common_x = std::gcd(count, block[0]);
  for (int x = 1; x <= common_x; ++x) {
    if (common_x % x != 0) continue;
    const int common_y = std::gcd(count / x, block[1]);
    for (int y = 1; y <= common_y; ++y)
      if (common_y % y == 0 && block[2] % (count / x / y) == 0)
        visit(grid_triple{x, y, count / x / y});
  }
}

/// Returns the grid of `ranks` ranks in `dimensions` dimensions with the lowest cost; among equal
/// costs, the first. Nonzero entries of `given` are kept. `cost(grid)` returns nothing if the grid
/// is impossible. Returns nothing if all grids are impossible.
template <class Cost>
[[nodiscard]] std::optional<grid_triple> best_grid(int ranks, int dimensions,
                                                   const grid_triple& given, const Cost& cost) {
  std::optional<grid_triple> best;
  decltype(cost(given)) lowest_cost;
  const int max_y = dimensions > 1 ? ranks : 1, max_z = dimensions > 2 ? ranks : 1;
  for_each_factorisation(ranks, {ranks, max_y, max_z}, [&](const grid_triple& grid) {
    for (int d = 0; d < 3 && d < dimensions; ++d)
      if (given[d] != 0 && grid[d] != given[d]) return;
    const auto grid_cost = cost(grid);
    if (grid_cost && (!best || *grid_cost < *lowest_cost)) lowest_cost = grid_cost, best = grid;
  });
  return best;
}

}  // namespace longshore::detail

// Chooses the shape of a grid of ranks by trying all factorisations of the number of ranks, and
// finds neighbours.
#include <longshore/halo/rank_grid.hpp>

#include <longshore/core/detail/joined.hpp>
#include <longshore/core/error.hpp>
#include <longshore/halo/cart_grid.hpp>
#include <longshore/halo/detail/grid_handshake.hpp>
#include <longshore/machine/detail/grid_factors.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace longshore {
namespace {

template <class T>
std::string text_of(const std::array<T, 3>& values, int dimensions, std::string_view between) {
  return detail::joined(std::span(values).first(static_cast<std::size_t>(dimensions)), between);
}

void check_dimensions(int dimensions) {
  if (dimensions < 1 || dimensions > 3)
    fail(errc::usage, "a grid of ranks has 1 to 3 dimensions, not {}", dimensions);
}

// Factors along x, and then along y, are tried in ascending order. So among equal costs the grid
// with the largest last factor wins.
template <class Cost>
std::array<int, 3> best_grid(int ranks, int dimensions, const std::array<int, 3>& given,
                             const Cost& cost, const std::string& more = "") {
  check_dimensions(dimensions);
  const auto best = detail::best_grid(ranks, dimensions, given, cost);
  if (!best)
    fail(errc::usage,
         "no grid of {} ranks in {} dimensions fits {} (0: free): each number must divide the "
         "ranks, and their product be {}{}",
         ranks, dimensions, text_of(given, dimensions, ","), ranks, more);
  return *best;
}

}  // namespace

std::array<int, 3> balanced_grid(int ranks, int dimensions, std::array<int, 3> given) {
  return best_grid(ranks, dimensions, given,
                   [](const std::array<int, 3>& grid) -> std::optional<double> {
                     return static_cast<double>(grid[0]) + grid[1] + grid[2];
                   });
}

std::array<int, 3> least_surface_grid(int ranks, int dimensions, std::array<std::size_t, 3> cells,
                                      std::array<int, 3> given) {
  return best_grid(
      ranks, dimensions, given,
      [&](const std::array<int, 3>& grid) -> std::optional<double> {
        std::array<double, 3> block{};
        for (int d = 0; d < 3; ++d) {
          const std::size_t cells_here = d < dimensions ? cells[d] : 1;
          if (static_cast<std::size_t>(grid[d]) > cells_here) return std::nullopt;
          block[d] = static_cast<double>(cells_here) / grid[d];
        }
        // A face across dimension d has the extents of the two other dimensions.
        double surface = 0;
        for (int d = 0; d < 3; ++d)
          if (grid[d] > 1) surface += 2 * block[(d + 1) % 3] * block[(d + 2) % 3];
        return surface;
      },
      fmt::format("; with {} cells, a rank has at least one cell along each dimension",
                  text_of(cells, std::clamp(dimensions, 1, 3), " x ")));
}

rank_grid::rank_grid(team& team, const grid_options& options)
    : team_(&team), dimensions_(options.dimensions), periodic_(options.periodic) {
  grid_options checked = options;
  common_arguments same;
  agree_on_call(team, "a grid of ranks", same, [&] {
    check_dimensions(dimensions_);
    for (int d = 0; d < 3; ++d) {
      if (d >= dimensions_) {
        checked.ranks[d] = 1;
        checked.periodic[d] = false;
      }
      if (checked.ranks[d] < 0)
        fail(errc::usage, "a grid of {} ranks along {}: give 1 or more, or 0 for a free choice",
             checked.ranks[d], axis_names[d]);
    }
    const auto given = [&](const auto& numbers) { return text_of(numbers, dimensions_, " x "); };
    same.add("placement", name_of(options.placement))
        .add("dimensions", dimensions_)
        .add("a grid of", given(options.ranks))
        .add("a periodic grid along", given(options.periodic))
        .add("cells", given(options.cells));
  });
  placed_ = place_grid(team, checked);
  coordinates_ = placed_.coordinates_of(team.rank());
}

rank_grid::rank_grid(longshore::team& team, int dimensions, const std::array<bool, 3>& periodic,
                     placed_grid placed)
    : team_(&team),
      dimensions_(dimensions),
      periodic_(periodic),
      placed_(std::move(placed)),
      coordinates_(placed_.coordinates_of(team.rank())) {}

std::array<bool, 3> rank_grid::wraps() const noexcept {
  std::array<bool, 3> wraps = periodic_;
  for (int d = dimensions_; d < 3; ++d) wraps[d] = false;
  return wraps;
}

common_arguments detail::grid_arguments(const rank_grid& grid) {
  common_arguments same;
  same.add("a grid of", detail::joined(grid.shape(), " x "))
      .add("a periodic grid along", detail::joined(grid.wraps(), " x "));
  return same;
}

const std::shared_ptr<detail::messenger>& detail::messenger_of(const rank_grid& grid) {
  if (grid.messenger_) return grid.messenger_;
  std::set<int> peers;
  for (const auto& direction : all_directions(grid.dimensions()))
    peers.insert(grid.neighbour(direction));
  peers.erase(-1);
  peers.erase(grid.ranks().rank());
  grid.messenger_ =
      std::make_shared<messenger>(grid.ranks(), std::vector<int>(peers.begin(), peers.end()));
  return grid.messenger_;
}

#ifndef LONGSHORE_HAVE_MPI  // else in detail/mpi/cart_grid.cpp
rank_grid detail::cart_grid(team&, const void*, const char*, cart_order) {
  fail(errc::unsupported,
       "a grid of a Cartesian communicator: this Longshore was built without MPI");
}
#endif

int rank_grid::neighbour(const std::array<int, 3>& from,
                         const halo_direction& direction) const noexcept {
  const auto there = placed_.step_from(from, direction, wraps());
  return there ? rank_at(*there) : -1;
}

}  // namespace longshore

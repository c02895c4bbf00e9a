// Maps coordinates in a grid to ranks: in rows, or along the hardware by a decomposition into
// levels. Placement auto counts the traffic of several mappings, and takes the best one.
#include <longshore/halo/placed_grid.hpp>

#include <longshore/core/detail/joined.hpp>
#include <longshore/core/error.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/rank_locations.hpp>
#include <longshore/machine/placement_search.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace longshore {
namespace {

placed_grid lexicographic_grid(const grid_triple& shape, const dimension_order& order,
                               std::string kind) {
  placed_grid grid;
  grid.shape = shape;
  grid.strides = rank_order(shape, order).strides();
  grid.kind = std::move(kind);
  return grid;
}

// Assigns the coordinates of an arrangement to the ranks in their order along the hardware.
placed_grid along_hardware(const arrangement& arranged, const rank_locations& locations,
                           std::string kind) {
  placed_grid grid = lexicographic_grid(shape_of(arranged), x_fastest, std::move(kind));
  std::vector<int> table(locations.position_of.size());
  for (std::size_t rank = 0; rank < table.size(); ++rank) {
    const auto at = coordinates_of(arranged, locations.position_of[rank]);
    table[static_cast<std::size_t>(at[0] * grid.strides[0] + at[1] * grid.strides[1] +
                                   at[2] * grid.strides[2])] = static_cast<int>(rank);
  }
  grid.rank_of = std::make_shared<const std::vector<int>>(std::move(table));
  if (const auto* placed = std::get_if<placement>(&arranged)) grid.by_levels = *placed;
  return grid;
}

// Joins each level that was left out to the next given level. So users may give only node and core.
std::vector<hardware_level> levels_as_given(const rank_locations& locations,
                                            const std::vector<placement_level>& given) {
  std::vector<hardware_level> machine;
  int pending = 1;
  for (const auto& level : locations.levels) {
    pending *= level.count;
    const bool is_given = std::any_of(given.begin(), given.end(),
                                      [&](const auto& l) { return l.name == level.name; });
    if (is_given) machine.push_back({level.name, std::exchange(pending, 1)});
  }
  if (pending > 1) machine.push_back({locations.levels.back().name, pending});
  return machine;
}

std::string counts_in(const std::vector<hardware_level>& levels) {
  std::vector<std::string> parts;
  for (const auto& level : levels) parts.push_back(fmt::format("{} {}", level.name, level.count));
  return detail::joined(parts);
}

placed_grid place_by_levels(const grid_options& options, const rank_locations& locations) {
  if (options.levels.empty())
    fail(errc::usage,
         "placement levels: give at least one level with its grid, such as node 2,1,1");
  for (const auto& level : options.levels)
    if (std::find(location_levels.begin(), location_levels.end(), level.name) ==
        location_levels.end())
      fail(errc::usage, "placement levels: '{}' is none of {}", level.name,
           detail::joined(location_levels));
  if (!locations.even)
    fail(errc::usage, "placement levels needs as many ranks on every node, but {}", locations.note);
  const placement placed(options.levels);
  try {
    placed.check(levels_as_given(locations, options.levels));
  } catch (const error& e) {
    fail(errc::usage, "placement levels: {}; ranks are on {}{}{}", e.what(),
         counts_in(locations.levels), locations.note.empty() ? "" : ": ", locations.note);
  }
  for (int d = 0; d < 3; ++d) {
    if (options.ranks[d] != 0 && d < options.dimensions && options.ranks[d] != placed.shape()[d])
      fail(errc::usage,
           "placement levels: they make a grid of {}, but {} ranks are asked for along {}",
           text_of(placed.shape()), options.ranks[d], axis_names[d]);
    if (d >= options.dimensions && placed.shape()[d] > 1)
      fail(errc::usage, "placement levels: they make a grid of {}, but the grid has {} dimensions",
           text_of(placed.shape()), options.dimensions);
  }
  auto grid = along_hardware(placed, locations, "levels");
  grid.note = locations.note;
  return grid;
}

grid_triple shape_for(const team& team, const grid_options& options) {
  if (options.cells[0] > 0)
    return least_surface_grid(team.size(), options.dimensions, options.cells, options.ranks);
  return options.placement == grid_placement::linear
             ? balanced_grid(team.size(), options.dimensions, options.ranks)
             : mpi_dims_create(team.size(), options.dimensions, options.ranks);
}

halo_load load_for(const grid_options& options, const grid_triple& shape) {
  halo_load load = options.load.value_or(halo_load{.faces_only = true});
  load.periodic = options.periodic;
  if (!options.load && options.cells[0] > 0)
    for (int d = 0; d < options.dimensions; ++d)
      load.cells[d] =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(options.cells[d]) / shape[d]);
  return load.restricted_to(options.dimensions);
}

std::int64_t off_node(const level_crossing& crossing) { return crossing.bytes.front(); }

// The search assumes that ranks are numbered along the hardware, which may be wrong. So the traffic
// of its result is counted for the real ranks, and compared with MPI's Cartesian order and the
// linear order. The best arrangement is taken. There is no search if nodes are uneven.
placed_grid place_automatically(team& team, const grid_options& options,
                                const rank_locations& locations) {
  const auto shape = shape_for(team, options);
  const auto load = load_for(options, shape);
  const auto weights = default_level_weights(locations.levels);
  placed_grid best = lexicographic_grid(shape, z_fastest, "cart");
  auto crossing = count_crossing(team, best, locations, load);
  const std::int64_t max_off_node = off_node(crossing);
  double lowest_cost = weighted_cost(crossing, weights);
  const auto consider = [&](placed_grid grid) {
    crossing = count_crossing(team, grid, locations, load);
    const double cost = weighted_cost(crossing, weights);
    if (off_node(crossing) > max_off_node || cost >= lowest_cost) return;
    lowest_cost = cost;
    best = std::move(grid);
  };
  consider(lexicographic_grid(shape, x_fastest, "linear"));
  if (locations.even) {
    auto search =
        find_placement(locations.levels, load, {.dimensions = options.dimensions, .grid = shape});
    consider(along_hardware(search.arranged, locations, search.kind));
  }
  best.note =
      locations.even
          ? locations.note
          : fmt::format("{}: an order of rows is used, because uneven nodes cannot be decomposed",
                        locations.note);
  return best;
}

}  // namespace

grid_triple placed_grid::coordinates_of(int rank) const noexcept {
  const int index =
      rank_of
          ? static_cast<int>(std::find(rank_of->begin(), rank_of->end(), rank) - rank_of->begin())
          : rank;
  grid_triple at{};
  for (int d = 0; d < 3; ++d) at[d] = index / strides[d] % shape[d];
  return at;
}

std::optional<grid_triple> placed_grid::step_from(
    const grid_triple& at, const halo_direction& direction,
    const std::array<bool, 3>& periodic) const noexcept {
  grid_triple there{};
  for (int d = 0; d < 3; ++d) {
    there[d] = at[d] + direction.step[d];
    if (there[d] >= 0 && there[d] < shape[d]) continue;
    if (!periodic[d]) return std::nullopt;
    there[d] = there[d] < 0 ? shape[d] - 1 : 0;
  }
  return there;
}

placed_grid place_grid(team& team, const grid_options& options) {
  const bool needs_hardware =
      options.placement == grid_placement::automatic || options.placement == grid_placement::levels;
  return place_grid(team, options, needs_hardware ? find_rank_locations(team) : rank_locations{});
}

placed_grid place_grid(team& team, const grid_options& options, const rank_locations& locations) {
  switch (options.placement) {
    case grid_placement::linear:
      return lexicographic_grid(shape_for(team, options), x_fastest, "linear");
    case grid_placement::cart:
      return lexicographic_grid(shape_for(team, options), z_fastest, "cart");
    case grid_placement::automatic: return place_automatically(team, options, locations);
    case grid_placement::levels: return place_by_levels(options, locations);
  }
  fail(errc::usage, "no such placement");
}

level_crossing count_crossing(team& team, const placed_grid& grid, const rank_locations& locations,
                              const halo_load& load) {
  check_load(grid.shape, load);
  // The last element counts messages of a rank to itself.
  std::vector<std::int64_t> bytes(locations.levels.size() + 1, 0);
  const auto here = grid.coordinates_of(team.rank());
  for (const auto& direction : load.faces_only ? face_directions(3) : all_directions(3)) {
    const auto there = grid.step_from(here, direction, load.periodic);
    if (!there) continue;
    std::int64_t message = load.bytes_per_cell;
    for (int d = 0; d < 3; ++d) {
      const int step = direction.step[d];
      message *= step == 0 ? load.cells[d] : step > 0 ? load.low[d] : load.high[d];
    }
    const int peer = grid.rank_at(*there);
    bytes[peer == team.rank() ? locations.levels.size()
                              : locations.level_between(team.nodes(), team.rank(), peer)] +=
        message;
  }
  team.allreduce(bytes, reduction::sum);
  bytes.pop_back();
  return {bytes, std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0})};
}

}  // namespace longshore

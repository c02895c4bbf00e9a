// Converts the placement factors of a variant to the options of a grid, and describes the placed
// grid for the record: its levels, and the share of bytes that crosses each level.
#include "patterns/halo/placement_factors.hpp"

#include <longshore/core/error.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/rank_locations.hpp>

#include "facts/binding.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::bench {
namespace {

constexpr long max_ranks = 1 << 24;

halo_load load_of(const variant& levels) {
  const std::int64_t element_bytes = levels.at("type") == "float" ? sizeof(float) : sizeof(double);
  if (levels.contains("contiguous"))  // all faces have the same number of bytes
    return {.cells = {1, 1, 1},
            .bytes_per_cell = levels.at("contiguous").get<std::int64_t>() * element_bytes,
            .faces_only = true};
  const int width = levels.at("halo").get<int>();
  return {.cells = triple<std::int64_t>(levels.at("domain")),
          .low = {width, width, width},
          .high = {width, width, width},
          .bytes_per_cell = levels.at("fields").get<std::int64_t>() * element_bytes,
          .faces_only = levels.at("algorithm") == "faces"};
}

json by_level(std::span<const hardware_level> levels, const level_crossing& crossing) {
  json fractions = json::object();
  for (std::size_t l = 0; l < levels.size(); ++l) fractions[levels[l].name] = crossing.fraction(l);
  return fractions;
}

}  // namespace

std::vector<factor> factors_of_levels() {
  // By level, the objects of its grid
  static const std::map<std::string_view, const char*> objects{{"node", "nodes"},
                                                               {"socket", "sockets"},
                                                               {"numa", "NUMA domains"},
                                                               {"l3", "last-level caches"},
                                                               {"core", "ranks"}};
  std::vector<factor> factors;
  for (const auto name : location_levels) {
    const std::string level(name);
    factors.push_back(
        triple_factor(level, "",
                      fmt::format("placement levels: the grid of {} within {}", objects.at(name),
                                  level == "node" ? "the machine" : "the next outer level"),
                      1, max_ranks));
  }
  constexpr bool always_available = true;
  factors.push_back(word_factor(
      "order", {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"}, "",
      "placement levels: order of dimensions within each level, fastest first (default: xyz)",
      always_available));
  return factors;
}

void check_levels(const std::map<std::string, std::vector<json>>& requested) {
  const auto& placements = requested.at("placement");
  const bool uses_levels =
      std::find(placements.begin(), placements.end(), "levels") != placements.end();
  bool has_grid = false;
  for (const auto name : location_levels)
    has_grid = has_grid || !requested.at(std::string(name)).empty();
  for (const auto& [name, levels] : requested) {
    const bool is_level =
        std::find(location_levels.begin(), location_levels.end(), name) != location_levels.end();
    if (!uses_levels && (is_level || name == "order") && !levels.empty())
      fail(errc::usage, "--{} is for --placement levels, and the placement is {}", name,
           fmt::format(
               "{}",
               fmt::join(std::vector<std::string>(placements.begin(), placements.end()), ",")));
  }
  if (uses_levels && !has_grid)
    fail(errc::usage,
         "--placement levels needs the grids of the levels: --node X,Y,Z --socket ... --numa ... "
         "--l3 ... --core X,Y,Z; "
         "longshore-bench placement helps to find them");
}

grid_options grid_of(const variant& levels) {
  grid_options options{.placement = level_of<grid_placement>(levels, "placement"),
                       .load = load_of(levels)};
  const auto periodic = triple<int>(levels.at("periodic"));
  for (int d = 0; d < 3; ++d) options.load->periodic[d] = options.periodic[d] = periodic[d] != 0;
  if (levels.contains("grid")) options.ranks = triple<int>(levels.at("grid"));
  const auto order = levels.contains("order")
                         ? dimension_order_from(levels.at("order").get<std::string>())
                         : x_fastest;
  for (const auto name : location_levels)
    if (const std::string level(name); levels.contains(level))
      options.levels.push_back({level, triple<int>(levels.at(level)), order});
  return options;
}

std::array<int, 3> expected_shape(const grid_options& options, int ranks) {
  switch (options.placement) {
    case grid_placement::linear: return balanced_grid(ranks, options.dimensions, options.ranks);
    case grid_placement::levels: return placement(options.levels).shape();
    case grid_placement::cart:
    case grid_placement::automatic: break;
  }
  return mpi_dims_create(ranks, options.dimensions, options.ranks);
}

json placement_facts(team& team, const placed_grid& grid, const grid_options& options) {
  const auto locations = find_rank_locations(team, this_host());
  const auto load = *options.load;
  const auto crossing = count_crossing(team, grid, locations, load);
  const auto cart = place_grid(team, {.ranks = grid.shape, .placement = grid_placement::cart});
  json levels = json::array();
  if (grid.by_levels) {
    for (const auto& level : grid.by_levels->levels())
      levels.push_back({{"name", level.name},
                        {"count", level.count()},
                        {"grid", level.grid},
                        {"order", name_of(level.order)}});
  } else {
    for (const auto& level : locations.levels)
      levels.push_back({{"name", level.name}, {"count", level.count}, {"grid", nullptr}});
  }
  return {{"kind", grid.kind},
          {"grid", grid.shape},
          {"levels", std::move(levels)},
          {"offnode_fraction", crossing.fraction(0)},
          {"crossing", by_level(locations.levels, crossing)},
          {"mpi_cart_crossing",
           by_level(locations.levels, count_crossing(team, cart, locations, load))},
          {"note", text_or_null(locations.note)}};
}

}  // namespace longshore::bench

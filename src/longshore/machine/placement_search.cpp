// Searches the placement with the lowest weighted traffic: for each grid of ranks, the best
// partition level by level (dynamic programming) and the six orders of dimensions.
#include <longshore/machine/placement_search.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/detail/grid_factors.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace longshore {
namespace {

constexpr double weight_ratio = 8;  // for the reason see default_level_weights in the header

// Costs that differ only by rounding count as equal. REQUIRES: b is finite.
bool clearly_less(double a, double b) { return a < b - 1e-12 * b; }

// Finds the best partition of the grid `shape`, level by level.
class grid_partitioner {
 public:
  grid_partitioner(std::span<const hardware_level> levels, std::span<const double> weights,
                   const halo_load& load, const grid_triple& shape, std::int64_t max_off_node)
      : levels_(levels),
        weights_(weights),
        load_(load),
        shape_(shape),
        max_off_node_(max_off_node),
        stored_(levels.size()) {}

  [[nodiscard]] std::optional<placement> find() {
    if (!(best_partition(0, shape_).cost < std::numeric_limits<double>::infinity()))
      return std::nullopt;
    std::vector<placement_level> levels;
    grid_triple block = shape_;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      levels.push_back({levels_[l].name, best_partition(l, block).grid});
      for (int d = 0; d < 3; ++d) block[d] /= levels.back().grid[d];
    }
    return placement(std::move(levels));
  }

 private:
  struct partition {
    double cost = std::numeric_limits<double>::infinity();
    grid_triple grid{};
  };

  // Returns the best partition of `block` by level l and all inner levels. `block` is the grid of
  // the ranks in one object of the level around l.
  partition best_partition(std::size_t l, const grid_triple& block) {
    if (l == levels_.size()) return {.cost = 0};
    if (const auto at = stored_[l].find(block); at != stored_[l].end()) return at->second;
    partition best;
    const std::int64_t within_block = bytes_within(shape_, block, load_);
    detail::for_each_factorisation(levels_[l].count, block, [&](const grid_triple& grid) {
      grid_triple inner = block;
      for (int d = 0; d < 3; ++d) inner[d] /= grid[d];
      const std::int64_t within_inner = bytes_within(shape_, inner, load_);
      if (l + 1 == levels_off_node(levels_) &&
          bytes_within(shape_, shape_, load_) - within_inner > max_off_node_)
        return;
      const double cost = weights_[l] * static_cast<double>(within_block - within_inner) +
                          best_partition(l + 1, inner).cost;
      // Grids come by ascending x. Of grids with equal costs the first one stays. It cuts z most.
      if (best.cost == std::numeric_limits<double>::infinity() ? cost < best.cost
                                                               : clearly_less(cost, best.cost))
        best = {cost, grid};
    });
    stored_[l].emplace(block, best);
    return best;
  }

  std::span<const hardware_level> levels_;
  std::span<const double> weights_;
  halo_load load_;
  grid_triple shape_;
  std::int64_t max_off_node_;
  std::vector<std::map<grid_triple, partition>> stored_;  // best_partition by level and block
};

std::int64_t off_node_bytes(const level_crossing& crossing,
                            std::span<const hardware_level> levels) {
  const auto end = crossing.bytes.begin() + static_cast<std::ptrdiff_t>(levels_off_node(levels));
  return std::accumulate(crossing.bytes.begin(), end, std::int64_t{0});
}

std::vector<grid_triple> grids_to_try(int ranks, const search_options& options,
                                      const grid_triple& cart) {
  if (!options.any_grid) return {cart};
  std::vector<grid_triple> grids;
  const int max_y = options.dimensions > 1 ? ranks : 1, max_z = options.dimensions > 2 ? ranks : 1;
  detail::for_each_factorisation(ranks, {ranks, max_y, max_z},
                                 [&](const grid_triple& grid) { grids.push_back(grid); });
  return grids;
}

// The weights of a search. Throws errc::usage for invalid options.
std::vector<double> checked_weights(std::span<const hardware_level> levels,
                                    const search_options& options) {
  if (levels.empty())
    fail(errc::usage, "a machine without levels: give at least one, such as node");
  if (options.dimensions < 1 || options.dimensions > 3)
    fail(errc::usage, "a grid of ranks has 1 to 3 dimensions, not {}", options.dimensions);
  auto weights = options.weights.empty() ? default_level_weights(levels) : options.weights;
  if (weights.size() != levels.size())
    fail(errc::usage, "{} weights for {} levels: give one per level, from the outermost in",
         weights.size(), levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l)
    if (!(weights[l] >= 0))
      fail(errc::usage, "the weight of level {} is {}; it must be at least 0", levels[l].name,
           weights[l]);
  return weights;
}

std::string kind_of(const dimension_order& order) {
  return order == z_fastest ? "cart" : order == x_fastest ? "linear" : name_of(order);
}

}  // namespace

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

std::vector<double> default_level_weights(std::span<const hardware_level> levels) {
  std::vector<double> weights(levels.size(), 1.0);
  for (std::size_t l = levels.size(); l-- > 1;) weights[l - 1] = weight_ratio * weights[l];
  return weights;
}

double weighted_cost(const level_crossing& crossing, std::span<const double> weights) {
  double cost = 0;
  for (std::size_t l = 0; l < crossing.bytes.size(); ++l)
    cost += weights[l] * static_cast<double>(crossing.bytes[l]);
  return cost;
}

std::size_t levels_off_node(std::span<const hardware_level> levels) noexcept {
  for (std::size_t l = 0; l < levels.size(); ++l)
    if (levels[l].name == "node") return l + 1;
  return 1;
}

found_placement find_placement(std::span<const hardware_level> levels, const halo_load& whole_load,
                               const search_options& options) {
  const auto weights = checked_weights(levels, options);
  const int ranks = position_count(levels);
  const halo_load load = whole_load.restricted_to(options.dimensions);
  const grid_triple cart_shape = mpi_dims_create(ranks, options.dimensions, options.grid);
  const rank_order cart = mpi_cartesian_order(cart_shape);
  const auto cart_crossing = crossing_of(cart, levels, load);
  const std::int64_t max_off_node = off_node_bytes(cart_crossing, levels);
  const double cart_cost = weighted_cost(cart_crossing, weights);
  found_placement found{.arranged = cart,
                        .crossing = cart_crossing,
                        .cost = cart_cost,
                        .kind = "cart",
                        .cart_crossing = cart_crossing,
                        .cart_cost = cart_cost};
  bool has_levels = false;
  const auto consider = [&](const arrangement& arranged, const std::string& kind) {
    auto crossing = crossing_of(arranged, levels, load);
    const double cost = weighted_cost(crossing, weights);
    const bool by_levels = kind == "levels";
    const bool better =
        by_levels && !has_levels ? cost <= found.cost : clearly_less(cost, found.cost);
    if (off_node_bytes(crossing, levels) > max_off_node || !better) return;
    found.arranged = arranged, found.crossing = std::move(crossing), found.cost = cost,
    found.kind = kind;
    has_levels = by_levels;
  };
  for (const auto& shape : grids_to_try(ranks, options, cart_shape)) {
    check_load(shape, load);
    if (auto best = grid_partitioner(levels, weights, load, shape, max_off_node).find())
      consider(*best, "levels");
    // Rank orders are tried on MPI's grid only, because lines and planes of others are blocks, too.
    if (shape != cart_shape) continue;
    dimension_order order = x_fastest;
    do consider(rank_order(shape, order), kind_of(order));
    while (std::next_permutation(order.begin(), order.end()));
  }
  return found;
}

}  // namespace longshore

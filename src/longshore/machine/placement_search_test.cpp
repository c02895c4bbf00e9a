// The search finds the best placement in short time. It is never worse than MPI's Cartesian order.
#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/placement_search.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace longshore {
namespace {

using machine_levels = std::vector<hardware_level>;

const machine_levels published_machine{
    {"node", 27}, {"socket", 2}, {"numa", 4}, {"l3", 4}, {"core", 2}};

std::vector<machine_levels> machines() {
  return {{{"node", 1}},
          {{"node", 7}},
          {{"node", 2}, {"core", 3}},
          {{"node", 3}, {"core", 2}},
          {{"node", 5}, {"socket", 2}, {"core", 7}},
          {{"node", 13}, {"core", 11}},
          {{"node", 4}, {"core", 9}},
          {{"node", 6}, {"socket", 2}, {"core", 6}},
          {{"node", 27}, {"socket", 2}, {"l3", 8}, {"core", 4}},
          {{"node", 27}, {"core", 64}},
          {{"node", 10}, {"socket", 2}, {"numa", 3}, {"core", 6}, {"hwthread", 2}},
          {{"group", 3}, {"node", 4}, {"core", 10}},
          {{"node", 30}, {"core", 28}},
          published_machine};
}

std::vector<halo_load> searched_loads() {
  return {{},
          {.cells = {64, 64, 8}},
          {.cells = {8, 64, 64}, .periodic = {false, true, true}},
          {.cells = {100, 10, 1}, .low = {0, 1, 2}, .high = {1, 1, 0}, .faces_only = true},
          {.periodic = {false, false, false}}};
}

std::int64_t off_node(const level_crossing& crossing, const machine_levels& levels) {
  std::int64_t bytes = 0;
  for (std::size_t l = 0; l < levels_off_node(levels); ++l) bytes += crossing.bytes[l];
  return bytes;
}

// The oracle: tries every hierarchical placement on a grid, without pruning or stored results.
double min_cost_of_all_placements(const machine_levels& levels, const halo_load& load,
                                  const grid_triple& shape, std::int64_t max_off_node,
                                  std::span<const double> weights) {
  double min_cost = std::numeric_limits<double>::infinity();
  std::vector<placement_level> chosen;
  const std::function<void()> choose = [&] {
    const std::size_t l = chosen.size();
    if (l == levels.size()) {
      const placement placed(chosen);
      if (placed.shape() != shape) return;
      const auto crossing = crossing_of(placed, load);
      if (off_node(crossing, levels) <= max_off_node)
        min_cost = std::min(min_cost, weighted_cost(crossing, weights));
      return;
    }
    for (int x = 1; x <= levels[l].count; ++x)
      for (int y = 1; y <= levels[l].count / x; ++y)
        if (levels[l].count % (x * y) == 0) {
          chosen.push_back({levels[l].name, {x, y, levels[l].count / x / y}});
          choose();
          chosen.pop_back();
        }
  };
  choose();
  return min_cost;
}

TEST(FindPlacement, is_never_worse_than_the_cartesian_order_of_mpi_in_cost_or_off_node_bytes) {
  int better = 0;
  for (const auto& levels : machines())
    for (const auto& full_load : searched_loads())
      for (const int dimensions : {1, 2, 3})
        for (const bool any_grid : {false, true}) {
          const auto load = full_load.restricted_to(dimensions);
          const auto found =
              find_placement(levels, full_load, {.dimensions = dimensions, .any_grid = any_grid});
          const auto cart =
              mpi_cartesian_order(mpi_dims_create(position_count(levels), dimensions));
          const auto cart_crossing = crossing_of(cart, levels, load);
          const auto weights = default_level_weights(levels);
          ASSERT_EQ(found.cart_crossing.bytes, cart_crossing.bytes);
          ASSERT_EQ(found.crossing.bytes, crossing_of(found.arranged, levels, load).bytes);
          ASSERT_LE(found.cost, weighted_cost(cart_crossing, weights));
          ASSERT_LE(off_node(found.crossing, levels), off_node(cart_crossing, levels));
          ASSERT_TRUE(any_grid || shape_of(found.arranged) == cart.shape());
          better += found.cost < found.cart_cost;
        }
  EXPECT_GT(better, 50);
}

TEST(FindPlacement, is_the_best_of_all_hierarchical_placements) {
  int compared = 0;
  for (const auto& levels : machines())
    for (const auto& load : searched_loads()) {
      const auto weights = default_level_weights(levels);
      const auto found = find_placement(levels, load);
      const double min_cost = min_cost_of_all_placements(
          levels, load, shape_of(found.arranged), off_node(found.cart_crossing, levels), weights);
      ASSERT_LE(found.cost, min_cost * (1 + 1e-12));
      if (found.kind != "levels") continue;
      ASSERT_GE(found.cost, min_cost * (1 - 1e-12));
      ++compared;
    }
  EXPECT_GT(compared, 30);
}

TEST(FindPlacement, has_no_more_off_node_traffic_than_the_published_decomposition) {
  const placement published({{"node", {3, 3, 3}},
                             {"socket", {1, 1, 2}},
                             {"numa", {1, 2, 2}},
                             {"l3", {2, 2, 1}},
                             {"core", {2, 1, 1}}});
  for (const bool faces : {true, false}) {
    const halo_load load{.bytes_per_cell = 4, .faces_only = faces};
    const auto found = find_placement(published_machine, load);
    const auto by_hand = crossing_of(published, load);
    ASSERT_EQ(shape_of(found.arranged), published.shape());
    EXPECT_LE(found.crossing.bytes[0], by_hand.bytes[0]);
    EXPECT_LE(found.cost, weighted_cost(by_hand, default_level_weights(published_machine)));
    EXPECT_LT(found.crossing.bytes[0], found.cart_crossing.bytes[0]);
    EXPECT_TRUE(!faces || std::abs(found.crossing.fraction(0) - 0.25) < 1e-12);
    const auto& placed = std::get<placement>(found.arranged);
    std::string text;
    for (const auto& level : placed.levels())
      text += fmt::format(" --{} {}", level.name, text_of(level.grid));
    fmt::print("{}: off-node {:.4f} (published {:.4f}, MPI's Cartesian order {:.4f}):{}\n",
               faces ? "faces" : "all 26", found.crossing.fraction(0), by_hand.fraction(0),
               found.cart_crossing.fraction(0), text);
  }
}

TEST(FindPlacement, weighs_faces_by_their_size) {
  const machine_levels levels{{"node", 64}, {"core", 64}};
  const auto block_of = [](const found_placement& found) {
    return std::get<placement>(found.arranged).block(0);
  };
  // The face across z is eight times as large as each other face.
  const halo_load flat{.cells = {64, 64, 8}};
  const placement cubes({{"node", {4, 4, 4}}, {"core", {4, 4, 4}}});
  EXPECT_EQ(block_of(find_placement(levels, {})), cubes.block(0));
  EXPECT_EQ(block_of(find_placement(levels, flat))[2], 16);
  EXPECT_LT(find_placement(levels, flat).crossing.bytes[0], crossing_of(cubes, flat).bytes[0]);
}

TEST(FindPlacement, takes_a_rank_order_if_no_block_is_as_good) {
  // A node holds more than five complete lines of 12 ranks along z. A block that divides both 12
  // and 64 holds at most a third of a line.
  const machine_levels levels{{"node", 27}, {"core", 64}};
  const auto found = find_placement(levels, {.cells = {64, 64, 8}});
  ASSERT_EQ(found.kind, "cart");
  EXPECT_EQ(found.crossing.bytes, found.cart_crossing.bytes);
}

TEST(FindPlacement, uses_the_given_weights) {
  const machine_levels levels{{"node", 2}, {"socket", 2}, {"core", 16}};
  const auto find = [&](std::vector<double> weights) {
    return find_placement(levels, {}, {.weights = std::move(weights)});
  };
  const auto outer = find({1, 0, 0}), inner = find({0, 0, 1});
  EXPECT_LE(outer.crossing.bytes[0], inner.crossing.bytes[0]);
  EXPECT_LE(inner.crossing.bytes[2], outer.crossing.bytes[2]);
  EXPECT_THROW(static_cast<void>(find({1, 2})), error);
  EXPECT_THROW(static_cast<void>(find({1, -2, 0})), error);
}

TEST(FindPlacement, has_no_more_off_node_bytes_than_the_cartesian_order_even_with_weight_0) {
  int limited = 0;
  for (const auto& levels : machines())
    for (const auto& load : searched_loads()) {
      for (std::size_t heavy = levels_off_node(levels); heavy < levels.size(); ++heavy) {
        std::vector<double> weights(levels.size(), 0);
        weights[heavy] = 1;
        const auto found = find_placement(levels, load, {.weights = weights});
        ASSERT_LE(off_node(found.crossing, levels), off_node(found.cart_crossing, levels));
        const auto min_cost_with = [&](std::int64_t max_off_node) {
          return min_cost_of_all_placements(levels, load, shape_of(found.arranged), max_off_node,
                                            weights);
        };
        ASSERT_LE(found.cost, min_cost_with(off_node(found.cart_crossing, levels)) * (1 + 1e-12));
        const double min_cost = min_cost_with(found.cart_crossing.total);
        limited += min_cost < found.cost;  // a better placement exists, but has more off-node bytes
      }
    }
  EXPECT_GT(limited, 0);
}

TEST(FindPlacement, keeps_a_given_grid) {
  const auto found = find_placement(published_machine, {}, {.grid = {1728, 1, 1}});
  EXPECT_EQ(shape_of(found.arranged), (grid_triple{1728, 1, 1}));
  EXPECT_THROW(static_cast<void>(find_placement(published_machine, {}, {.grid = {5, 0, 0}})),
               error);
}

TEST(FindPlacement, takes_seconds_for_a_thousand_nodes) {
  const auto seconds = [](const machine_levels& levels, bool any_grid) {
    const double began = monotonic_seconds();
    const auto found = find_placement(levels, {}, {.any_grid = any_grid});
    EXPECT_GT(found.cart_crossing.total, 0);
    return monotonic_seconds() - began;
  };
  const double small = seconds(published_machine, false);
  const double large =
      seconds({{"node", 1000}, {"socket", 2}, {"numa", 4}, {"l3", 4}, {"core", 8}}, false);
  const double any =
      seconds({{"node", 1000}, {"socket", 2}, {"numa", 4}, {"l3", 4}, {"core", 8}}, true);
  fmt::print("27 x 64: {:.3g} s; 1000 x 256: {:.3g} s, on any grid {:.3g} s\n", small, large, any);
  EXPECT_LT(small, 1.0);
  EXPECT_LT(large, 5.0);
  EXPECT_LT(any, 30.0);
}

}  // namespace
}  // namespace longshore

// Compares the closed forms of the traffic with counting message by message, exactly.
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/placement_search.hpp>
#include <longshore/machine/placement_traffic.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace longshore {
namespace {

// The oracle: counts the traffic rank by rank and message by message.
level_crossing counted_crossing(const arrangement& arranged, std::span<const hardware_level> levels,
                                const halo_load& load) {
  const grid_triple shape = shape_of(arranged);
  level_crossing crossing{std::vector<std::int64_t>(levels.size()), 0};
  const int ranks = shape[0] * shape[1] * shape[2];
  for (int position = 0; position < ranks; ++position) {
    const grid_triple coordinates = coordinates_of(arranged, position);
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z) {
          const std::array<int, 3> step{x, y, z};
          const int moves = x * x + y * y + z * z;
          if (moves == 0 || (load.faces_only && moves != 1)) continue;
          grid_triple neighbour{};
          bool exists = true;
          std::int64_t bytes = load.bytes_per_cell;
          for (int d = 0; d < 3; ++d) {
            neighbour[d] = coordinates[d] + step[d];
            if (neighbour[d] < 0 || neighbour[d] >= shape[d]) {
              exists = exists && load.periodic[d];
              neighbour[d] = (neighbour[d] + shape[d]) % shape[d];
            }
            if (step[d] == 0)
              bytes *= load.cells[d];
            else
              bytes *= step[d] > 0 ? load.low[d] : load.high[d];
          }
          const int peer = position_at(arranged, neighbour);
          if (!exists || peer == position) continue;
          crossing.total += bytes;
          int group = ranks;  // positions in one object of the level
          for (std::size_t l = 0; l < levels.size(); ++l) {
            group /= levels[l].count;
            if (position / group == peer / group) continue;
            crossing.bytes[l] += bytes;
            break;
          }
        }
  }
  return crossing;
}

std::vector<hardware_level> levels_of(const placement& placed) {
  std::vector<hardware_level> levels;
  for (const auto& level : placed.levels()) levels.push_back({level.name, level.count()});
  return levels;
}

void expect_counted(const arrangement& arranged, std::span<const hardware_level> levels,
                    const halo_load& load) {
  const auto formula = crossing_of(arranged, levels, load),
             counted = counted_crossing(arranged, levels, load);
  ASSERT_EQ(formula.bytes, counted.bytes) << text_of(shape_of(arranged));
  ASSERT_EQ(formula.total, counted.total) << text_of(shape_of(arranged));
}

std::vector<halo_load> counted_loads() {
  std::vector<halo_load> loads;
  for (const bool faces : {false, true})
    for (int periodic = 0; periodic < 8; ++periodic) {
      const std::array<bool, 3> wraps{(periodic & 1) != 0, (periodic & 2) != 0,
                                      (periodic & 4) != 0};
      loads.push_back({.cells = {64, 64, 64}, .periodic = wraps, .faces_only = faces});
      loads.push_back({.cells = {7, 5, 3},
                       .low = {1, 0, 2},
                       .high = {3, 2, 0},
                       .bytes_per_cell = 20,
                       .periodic = wraps,
                       .faces_only = faces});
    }
  return loads;
}

TEST(PlacementTraffic, agrees_with_counting_on_small_machines_of_any_shape) {
  std::uint64_t state = 17;
  int machines = 0;
  const auto below = [&](int n) {
    return static_cast<int>(mix_bits(++state) % static_cast<std::uint64_t>(n));
  };
  for (int i = 0; i < 150; ++i) {
    const int dimensions = 1 + below(3);
    std::vector<placement_level> levels(static_cast<std::size_t>(1 + below(5)));
    for (auto& level : levels) {
      level.name = fmt::format("level{}", &level - levels.data());
      for (int d = 0; d < dimensions; ++d)
        if (below(2) == 0) level.grid[d] = 1 + below(d == 0 ? 4 : 3);
      level.order = below(2) == 0 ? x_fastest : dimension_order{2, 0, 1};
    }
    const placement placed(levels);
    if (placed.size() > 800) continue;
    ++machines;
    const auto hardware = levels_of(placed);
    for (const auto& load : counted_loads()) {
      expect_counted(placed, hardware, load.restricted_to(dimensions));
      for (const dimension_order& order : {x_fastest, z_fastest, dimension_order{1, 2, 0}})
        expect_counted(rank_order(placed.shape(), order), hardware, load.restricted_to(dimensions));
    }
  }
  EXPECT_GT(machines, 100);
}

TEST(PlacementTraffic, agrees_with_counting_on_27_nodes) {
  const std::vector<std::vector<placement_level>> machines = {
      {{"node", {3, 3, 3}},
       {"socket", {1, 1, 2}},
       {"numa", {1, 2, 2}},
       {"l3", {2, 2, 1}},
       {"core", {2, 1, 1}}},
      {{"node", {3, 3, 3}},
       {"socket", {1, 1, 2}},
       {"numa", {1, 2, 2}},
       {"l3", {2, 2, 1}},
       {"core", {2, 2, 1}}},
      {{"node", {27, 1, 1}}, {"socket", {2, 1, 1}}, {"l3", {1, 8, 1}}, {"core", {1, 2, 4}}},
      {{"node", {9, 3, 1}}, {"core", {4, 4, 8}, dimension_order{2, 1, 0}}}};
  for (const auto& machine : machines) {
    const placement placed(machine);
    const auto hardware = levels_of(placed);
    ASSERT_GE(placed.size(), 27 * 64);
    for (const auto& load : {halo_load{.cells = {64, 64, 8}},
                             halo_load{.periodic = {true, false, true}, .faces_only = true}}) {
      expect_counted(placed, hardware, load);
      expect_counted(mpi_cartesian_order(placed.shape()), hardware, load);
      expect_counted(rank_order(placed.shape(), x_fastest), hardware, load);
    }
  }
}

TEST(PlacementTraffic, of_a_wrong_load_or_placement_differs_from_counting) {
  const placement placed({{"node", {2, 3, 1}}, {"socket", {1, 2, 2}}, {"core", {2, 1, 1}}});
  const auto hardware = levels_of(placed);
  const halo_load right{.cells = {4, 5, 6}, .low = {1, 2, 3}, .high = {2, 2, 1}};
  ASSERT_EQ(crossing_of(placed, right).bytes, counted_crossing(placed, hardware, right).bytes);
  std::vector<halo_load> faults(4, right);
  faults[0].periodic[1] = false;
  faults[1].low[2] = 1;
  faults[2].faces_only = true;
  std::swap(faults[3].cells[0], faults[3].cells[2]);
  for (const auto& fault : faults)
    EXPECT_NE(crossing_of(placed, fault).bytes, counted_crossing(placed, hardware, right).bytes);
  const placement other({{"node", {3, 2, 1}}, {"socket", {2, 1, 2}}, {"core", {1, 2, 1}}});
  EXPECT_NE(crossing_of(other, right).bytes, counted_crossing(placed, hardware, right).bytes);
}

TEST(PlacementTraffic, of_known_blocks_has_the_known_off_node_fraction) {
  // With blocks of a x b x c ranks per node, (1/a + 1/b + 1/c) / 3 of the face messages leave the
  // node.
  const halo_load faces{.faces_only = true};
  const auto off_node = [&](const grid_triple& nodes, const grid_triple& block) {
    return crossing_of(placement({{"node", nodes}, {"core", block}}), faces).fraction(0);
  };
  EXPECT_DOUBLE_EQ(off_node({3, 3, 3}, {4, 4, 4}), 0.25);
  EXPECT_DOUBLE_EQ(off_node({3, 3, 3}, {1, 1, 64}), (1 + 1 + 1.0 / 64) / 3);
  EXPECT_NEAR(off_node({3, 3, 3}, {1, 1, 64}), 0.672, 0.0005);
  EXPECT_NEAR(off_node({3, 3, 3}, {2, 4, 8}), 0.292, 0.0005);
  EXPECT_NEAR(off_node({3, 3, 3}, {4, 4, 8}), 0.208, 0.0005);
  EXPECT_NEAR(off_node({3, 3, 3}, {128, 1, 1}), 0.669, 0.0005);
}

TEST(PlacementTraffic, is_0_for_one_rank_and_uses_two_links_for_two_periodic_ranks) {
  const halo_load load{.cells = {10, 10, 10}, .bytes_per_cell = 1, .faces_only = true};
  EXPECT_EQ(crossing_of(placement({{"node", {1, 1, 1}}}), load).total, 0);
  EXPECT_EQ(crossing_of(placement({{"node", {1, 1, 1}}}), load).fraction(0), 0.0);
  EXPECT_EQ(crossing_of(placement({{"node", {2, 1, 1}}}), load).total, 2 * 2 * 100);
  halo_load open = load;
  open.periodic = {false, false, false};
  EXPECT_EQ(crossing_of(placement({{"node", {2, 1, 1}}}), open).total, 2 * 100);
}

TEST(PlacementTraffic, of_invalid_or_overflowing_loads_is_refused) {
  const placement placed({{"node", {1000, 1000, 1}}});
  EXPECT_THROW(static_cast<void>(crossing_of(placed, {.cells = {1L << 20, 1L << 20, 8}})), error);
  EXPECT_THROW(static_cast<void>(crossing_of(placed, {.cells = {0, 1, 1}})), error);
  EXPECT_THROW(static_cast<void>(crossing_of(placed, {.low = {-1, 1, 1}})), error);
  const std::vector<hardware_level> levels{{"node", 7}};
  EXPECT_THROW(static_cast<void>(crossing_of(rank_order({2, 2, 2}, x_fastest), levels, {})), error);
}

}  // namespace
}  // namespace longshore

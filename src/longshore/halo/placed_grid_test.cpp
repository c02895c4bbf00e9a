// Tests placements on real and virtual nodes: each rank has one position in the grid, and the
// counted traffic agrees with the closed form.
#include <longshore/core/error.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/rank_locations.hpp>
#include <longshore/machine/placement_search.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace longshore {
namespace {

using testing::spmd;

// A host of 2 sockets, each with 2 caches of 2 cores: CPUs 0 to 7 along the hardware.
topology small_host() {
  const std::vector<topology::labelled_level> levels{{"socket", {0, 0, 0, 0, 1, 1, 1, 1}},
                                                     {"numa", {0, 0, 0, 0, 1, 1, 1, 1}},
                                                     {"l3", {0, 0, 1, 1, 2, 2, 3, 3}},
                                                     {"core", {0, 1, 2, 3, 4, 5, 6, 7}}};
  return {{0, 1, 2, 3, 4, 5, 6, 7}, levels};
}

std::vector<int> counts_of(const rank_locations& locations) {
  std::vector<int> counts;
  for (const auto& level : locations.levels) counts.push_back(level.count);
  return counts;
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    return e.what();
  }
  return "no error";
}

TEST(PlacedGrid, every_rank_has_one_position_under_every_placement) {
  spmd([](team& team) {
    for (const auto placement :
         {grid_placement::linear, grid_placement::cart, grid_placement::automatic})
      for (const int dimensions : {1, 2, 3})
        for (const bool has_cells : {false, true}) {
          grid_options options{.dimensions = dimensions, .placement = placement};
          if (has_cells) options.cells = {80, 400, 60};
          const rank_grid grid(team, options);
          ASSERT_EQ(grid.rank_at(grid.coordinates()), team.rank()) << name_of(placement);
          std::vector<int> seen;
          for (int z = 0; z < grid.shape()[2]; ++z)
            for (int y = 0; y < grid.shape()[1]; ++y)
              for (int x = 0; x < grid.shape()[0]; ++x) seen.push_back(grid.rank_at({x, y, z}));
          std::sort(seen.begin(), seen.end());
          ASSERT_EQ(static_cast<int>(seen.size()), team.size());
          for (int r = 0; r < team.size(); ++r) ASSERT_EQ(seen[static_cast<std::size_t>(r)], r);
          for (const auto& direction : all_directions(dimensions)) {
            const auto neighbours = team.allgather_value(grid.neighbour(direction.opposite()));
            const int peer = grid.neighbour(direction);
            ASSERT_GE(peer, 0);
            EXPECT_EQ(neighbours[static_cast<std::size_t>(peer)], team.rank())
                << name_of(placement);
          }
        }
  });
}

TEST(PlacedGrid, cart_numbers_ranks_like_mpi) {
  spmd([](team& team) {
    const rank_grid grid(team, {.placement = grid_placement::cart});
    ASSERT_EQ(grid.shape(), mpi_dims_create(team.size()));
    const auto& at = grid.coordinates();
    EXPECT_EQ(team.rank(), (at[0] * grid.shape()[1] + at[1]) * grid.shape()[2] + at[2]);
  });
}

TEST(PlacedGrid, counted_traffic_agrees_with_the_closed_form_and_auto_is_never_worse_than_cart) {
  spmd([](team& team) {
    const auto locations = find_rank_locations(team);
    int compared = 0;
    for (const bool periodic : {true, false})
      for (const auto& cells :
           {std::array<std::int64_t, 3>{64, 64, 64}, {64, 64, 8}, {4, 64, 64}}) {
        const halo_load load{.cells = cells, .periodic = {periodic, periodic, true}};
        grid_options options{.periodic = load.periodic, .load = load};
        const auto counted = [&](grid_placement placement) {
          options.placement = placement;
          return count_crossing(team, place_grid(team, options, locations), locations, load);
        };
        const auto cart = counted(grid_placement::cart),
                   automatic = counted(grid_placement::automatic);
        EXPECT_EQ(cart.total, automatic.total);
        EXPECT_LE(automatic.bytes[0], cart.bytes[0]);
        const auto weights = default_level_weights(locations.levels);
        EXPECT_LE(weighted_cost(automatic, weights), weighted_cost(cart, weights));
        if (!locations.even) continue;
        ++compared;
        // Consecutive ranks of these tests lie on the same node.
        EXPECT_EQ(cart.bytes, crossing_of(mpi_cartesian_order(mpi_dims_create(team.size())),
                                          locations.levels, load)
                                  .bytes);
      }
    EXPECT_EQ(compared, locations.even ? 6 : 0);
  });
}

TEST(PlacedGrid, given_levels_decompose_node_by_node) {
  spmd([](team& team) {
    const auto locations = find_rank_locations(team);
    const int nodes = team.nodes().node_count(), each = team.size() / nodes;
    const std::vector<placement_level> levels{{"node", {1, nodes, 1}}, {"core", {each, 1, 1}}};
    const grid_options options{.placement = grid_placement::levels, .levels = levels};
    if (!locations.even) {
      const auto message = message_of([&] { static_cast<void>(place_grid(team, options)); });
      EXPECT_NE(message.find("as many ranks on every node"), std::string::npos) << message;
      EXPECT_NE(message.find("nodes have between"), std::string::npos) << message;
      const rank_grid automatic(team, {.placement = grid_placement::automatic});
      EXPECT_NE(automatic.placed().note.find("an order of rows is used"), std::string::npos)
          << automatic.placed().note;
      return;
    }
    const rank_grid grid(team, options);
    EXPECT_EQ(grid.shape(), (grid_triple{each, nodes, 1}));
    EXPECT_EQ(grid.coordinates()[1], team.nodes().my_node());
    EXPECT_EQ(grid.coordinates()[0], team.nodes().local_index(team.rank()));
    EXPECT_EQ(grid.placed().kind, "levels");
    const halo_load load{};
    EXPECT_EQ(count_crossing(team, grid.placed(), locations, load).bytes[0],
              crossing_of(placement(levels), load).bytes[0]);
  });
}

TEST(PlacedGrid, levels_that_do_not_fit_are_refused_with_the_counts_found) {
  spmd([](team& team) {
    if (!find_rank_locations(team).even) return;
    const int nodes = team.nodes().node_count(), each = team.size() / nodes;
    const auto of = [&](std::vector<placement_level> levels, grid_options options = {}) {
      options.placement = grid_placement::levels;
      options.levels = std::move(levels);
      return message_of([&] { rank_grid(team, options); });
    };
    auto message = of({{"node", {nodes + 1, 1, 1}}, {"core", {each, 1, 1}}});
    EXPECT_NE(message.find(fmt::format("node {}x1x1 makes {}, the machine has {}", nodes + 1,
                                       nodes + 1, nodes)),
              std::string::npos)
        << message;
    EXPECT_NE(message.find(fmt::format("node {}, socket 1", nodes)), std::string::npos) << message;
    message = of({{"node", {nodes, 1, 1}}, {"socket", {1, 3, 1}}, {"core", {each, 1, 1}}});
    EXPECT_NE(message.find("socket 1x3x1 makes 3, the machine has 1"), std::string::npos)
        << message;
    EXPECT_NE(of({}).find("at least one level"), std::string::npos);
    EXPECT_NE(of({{"rack", {1, 1, 1}}}).find("'rack'"), std::string::npos);
    const std::vector<placement_level> right{{"node", {nodes, 1, 1}}, {"core", {each, 1, 1}}};
    EXPECT_NE(of(right, {.ranks = {team.size() + 1, 0, 0}}).find("asked for"), std::string::npos);
    EXPECT_EQ(of(right, {.ranks = {team.size(), 1, 1}}), "no error");
    if (nodes > 1) {
      EXPECT_NE(of({{"node", {1, nodes, 1}}, {"core", {each, 1, 1}}}, {.dimensions = 1})
                    .find("1 dimensions"),
                std::string::npos);
    }
    if (each > 1) {
      EXPECT_NE(of({{"node", {nodes, 1, 1}}}).find("core"), std::string::npos);
    }
  });
}

TEST(RankLocations, follow_the_cpus_to_which_ranks_are_bound) {
  spmd([](team& team) {
    if (team.size() != 8 || team.nodes().node_count() != 1) return;
    const auto backwards =
        find_rank_locations(team, small_host(), [](int rank) { return std::vector{7 - rank}; });
    EXPECT_EQ(counts_of(backwards), (std::vector{1, 2, 1, 2, 2}));
    EXPECT_EQ(backwards.note, "");
    for (int rank = 0; rank < 8; ++rank)
      EXPECT_EQ(backwards.position_of[static_cast<std::size_t>(rank)], 7 - rank);
    EXPECT_EQ(backwards.level_between(team.nodes(), 0, 7), 1u);
    EXPECT_EQ(backwards.level_between(team.nodes(), 0, 2), 3u);
    EXPECT_EQ(backwards.level_between(team.nodes(), 0, 1), 4u);

    // Some launchers distribute ranks over the sockets in turn, so that consecutive ranks are on
    // different sockets.
    const auto in_turn = find_rank_locations(
        team, small_host(), [](int rank) { return std::vector{rank / 2 + rank % 2 * 4}; });
    EXPECT_EQ(counts_of(in_turn), (std::vector{1, 2, 1, 2, 2}));
    EXPECT_EQ(in_turn.level_between(team.nodes(), 0, 1), 1u);
    const std::vector<placement_level> levels{
        {"node", {1, 1, 1}}, {"socket", {1, 1, 2}}, {"l3", {1, 2, 1}}, {"core", {2, 1, 1}}};
    const grid_options options{.placement = grid_placement::levels, .levels = levels};
    const auto grid = place_grid(team, options, in_turn);
    EXPECT_EQ(grid.rank_at({0, 0, 1}), 1);  // the other socket
    EXPECT_EQ(grid.rank_at({1, 0, 0}), 2);  // the other core of the cache
    const halo_load load{};
    EXPECT_EQ(count_crossing(team, grid, in_turn, load).bytes,
              crossing_of(placement({{"node", {1, 1, 1}},
                                     {"socket", {1, 1, 2}},
                                     {"numa", {1, 1, 1}},
                                     {"l3", {1, 2, 1}},
                                     {"core", {2, 1, 1}}}),
                          load)
                  .bytes);
    // The largest faces are those across z. In MPI's order these messages cross between sockets.
    const halo_load flat{.cells = {64, 64, 4}};
    const auto automatic =
        place_grid(team, {.placement = grid_placement::automatic, .load = flat}, in_turn);
    const auto cart = place_grid(team, {.placement = grid_placement::cart}, in_turn);
    EXPECT_LT(count_crossing(team, automatic, in_turn, flat).bytes[1],
              count_crossing(team, cart, in_turn, flat).bytes[1]);
  });
}

TEST(RankLocations, give_the_reason_why_levels_are_not_used) {
  spmd([](team& team) {
    if (team.size() != 8 || team.nodes().node_count() != 1) return;
    const auto of = [&](const binding_reader& bound) {
      return find_rank_locations(team, small_host(), bound);
    };
    const auto free = of([](int) { return std::vector<int>{}; });
    EXPECT_EQ(counts_of(free), (std::vector{1, 1, 1, 1, 8}));
    EXPECT_NE(free.note.find("not bound"), std::string::npos);
    const auto by_socket = of([](int rank) {
      return rank < 4 ? std::vector{0, 1, 2, 3} : std::vector{4, 5, 6, 7};
    });
    EXPECT_EQ(counts_of(by_socket), (std::vector{1, 2, 1, 1, 4}));
    EXPECT_NE(by_socket.note.find("within one l3"), std::string::npos) << by_socket.note;
    const auto uneven = of([](int rank) { return std::vector{rank < 7 ? rank % 4 : 7}; });
    EXPECT_EQ(counts_of(uneven), (std::vector{1, 1, 1, 1, 8}));
    EXPECT_NE(uneven.note.find("between 1 and 7 ranks"), std::string::npos) << uneven.note;
  });
}

}  // namespace
}  // namespace longshore

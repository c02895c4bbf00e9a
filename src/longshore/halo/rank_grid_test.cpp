// Tests the factors, coordinates and neighbours of grids of ranks.
#include <longshore/core/error.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace longshore {
namespace {

using testing::spmd;
using triple = std::array<int, 3>;

template <class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

TEST(BalancedGrid, has_the_factors_of_mpi_dims_create_in_ascending_order) {
  EXPECT_EQ(balanced_grid(1, 3), (triple{1, 1, 1}));
  EXPECT_EQ(balanced_grid(2, 3), (triple{1, 1, 2}));
  EXPECT_EQ(balanced_grid(8, 3), (triple{2, 2, 2}));
  EXPECT_EQ(balanced_grid(12, 3), (triple{2, 2, 3}));
  EXPECT_EQ(balanced_grid(7, 3), (triple{1, 1, 7}));
  EXPECT_EQ(balanced_grid(12, 2), (triple{3, 4, 1}));
  EXPECT_EQ(balanced_grid(12, 1), (triple{12, 1, 1}));
  EXPECT_EQ(balanced_grid(1728, 3), (triple{12, 12, 12}));
}

TEST(BalancedGrid, keeps_given_factors) {
  EXPECT_EQ(balanced_grid(12, 3, {0, 0, 1}), (triple{3, 4, 1}));
  EXPECT_EQ(balanced_grid(12, 3, {12, 0, 0}), (triple{12, 1, 1}));
  EXPECT_NE(refusal_of([] {
              static_cast<void>(balanced_grid(12, 3, {5, 0, 0}));
            }).find("5,0,0"),
            std::string::npos);
  EXPECT_NE(refusal_of([] {
              static_cast<void>(balanced_grid(12, 3, {2, 2, 2}));
            }).find("12"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { static_cast<void>(balanced_grid(12, 4)); }).find("1 to 3"),
            std::string::npos);
}

TEST(LeastSurfaceGrid, cuts_a_long_domain_along_its_length) {
  EXPECT_EQ(least_surface_grid(64, 3, {100, 100, 100}), (triple{4, 4, 4}));
  // the same surface as 2, 2, 2, but fewer messages
  EXPECT_EQ(least_surface_grid(8, 3, {100, 100, 100}), (triple{1, 2, 4}));
  EXPECT_EQ(least_surface_grid(8, 3, {10, 10, 1000}), (triple{1, 1, 8}));
  EXPECT_EQ(least_surface_grid(8, 3, {1000, 10, 10}), (triple{8, 1, 1}));
  EXPECT_EQ(least_surface_grid(4, 2, {64, 1, 0}), (triple{4, 1, 1}));
  EXPECT_NE(refusal_of([] {
              static_cast<void>(least_surface_grid(7, 3, {3, 3, 3}));
            }),
            "no error");  // fewer cells than ranks
}

TEST(RankGrid, neighbours_are_mutual_and_cover_the_grid) {
  spmd([](team& team) {
    for (const int dimensions : {1, 2, 3})
      for (const bool periodic : {true, false}) {
        const rank_grid grid(
            team, {.dimensions = dimensions, .periodic = {periodic, periodic, periodic}});
        ASSERT_EQ(grid.shape()[0] * grid.shape()[1] * grid.shape()[2], team.size());
        ASSERT_EQ(grid.rank_at(grid.coordinates()), team.rank());
        const auto directions = all_directions(dimensions);
        ASSERT_EQ(directions.size(), (std::array<std::size_t, 4>{0, 2, 8, 26}[dimensions]));
        int count = 0;
        for (const auto& direction : directions) {
          const int peer = grid.neighbour(direction);
          const auto neighbours = team.allgather_value(grid.neighbour(direction.opposite()));
          if (peer >= 0) {
            EXPECT_EQ(neighbours[peer], team.rank());
            ++count;
          }
          EXPECT_EQ(
              peer >= 0, periodic || [&] {
                for (int d = 0; d < 3; ++d) {
                  const int there = grid.coordinates()[d] + direction.step[d];
                  if (there < 0 || there >= grid.shape()[d]) return false;
                }
                return true;
              }());
        }
        EXPECT_GT(
            team.allreduce_value(count, reduction::sum) + (periodic || team.size() > 1 ? 0 : 1), 0);
      }
  });
}

TEST(RankGrid, refuses_a_grid_of_another_number_of_ranks) {
  spmd([](team& team) {
    const auto message = refusal_of([&] { rank_grid(team, {.ranks = {team.size() + 1, 1, 1}}); });
    EXPECT_NE(message.find(std::to_string(team.size() + 1)), std::string::npos) << message;
    EXPECT_NE(refusal_of([&] { rank_grid(team, {.ranks = {-1, 0, 0}}); }), "no error");
  });
}

}  // namespace
}  // namespace longshore

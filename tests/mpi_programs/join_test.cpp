// Tests of longshore/mpi.hpp: teams of communicators and grids of Cartesian communicators, in a
// program that starts MPI itself.
#include <longshore/longshore.hpp>
#include <longshore/mpi.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

namespace longshore {
namespace {

struct world {
  world() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int rank = 0, size = 0;
};

std::string refusal_of(MPI_Comm communicator, const run_options& options = {}) {
  try {
    (void)join(communicator, options);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    return e.what();
  }
  return "";
}

TEST(Join, refuses_communicators_of_which_no_team_can_be_made) {
  const world world;
  const std::string rank = fmt::format("rank {} of MPI_COMM_WORLD", world.rank);
  EXPECT_NE(refusal_of(MPI_COMM_NULL).find("MPI_COMM_NULL"), std::string::npos);
  EXPECT_EQ(refusal_of(MPI_COMM_NULL).find(rank), 0u);
  if (world.size == 1) return;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  const int is_first = world.rank == 0 ? 1 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_first, 0, &both);
  EXPECT_NE(refusal_of(both).find("MPI_Intercomm_merge"), std::string::npos);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST(Join, refuses_a_program_of_another_mpi_library) {
  const MPI_Comm world = MPI_COMM_WORLD;
  try {
    (void)detail::join(&world, "Some MPI", {});
    FAIL() << "it was accepted";
  } catch (const error& e) {
    EXPECT_NE(std::string_view(e.what()).find("headers of Some MPI"), std::string_view::npos);
  }
}

TEST(Join, obeys_the_environment_where_the_program_leaves_the_choice) {
  setenv("LONGSHORE_RANKS_PER_NODE", "1", 1);
  setenv("LONGSHORE_TIMEOUT", "77", 1);
  {
    const auto ranks = join(MPI_COMM_WORLD);
    EXPECT_EQ(ranks->nodes().node_count(), ranks->size());
    EXPECT_EQ(ranks->waiting().timeout_seconds, 77);
  }
  {
    const auto ranks = join(MPI_COMM_WORLD, {.ranks_per_node = 0, .timeout_seconds = 66});
    EXPECT_EQ(ranks->nodes().node_count(), 1);
    EXPECT_EQ(ranks->waiting().timeout_seconds, 66);
  }
  setenv("LONGSHORE_TIMEOUT", "soon", 1);
  EXPECT_NE(refusal_of(MPI_COMM_WORLD).find("LONGSHORE_TIMEOUT"), std::string::npos);
  unsetenv("LONGSHORE_RANKS_PER_NODE");
  unsetenv("LONGSHORE_TIMEOUT");
}

TEST(Join, refuses_options_out_of_range_and_ranks_that_differ) {
  for (const run_options& wrong :
       {run_options{.ranks_per_node = -1}, run_options{.timeout_seconds = -1},
        run_options{.timeout_seconds = std::nan("")}})
    EXPECT_NE(refusal_of(MPI_COMM_WORLD, wrong).find("it must be from 0"), std::string::npos);
  const world world;
  if (world.size == 1) return;
  const std::string refused = refusal_of(MPI_COMM_WORLD, {.ranks_per_node = world.rank == 0});
  EXPECT_NE(refused.find("is 0 on one rank and 1 on another"), std::string::npos) << refused;
}

// A pointer, or a communicator that was forgotten, is not an MPI_Comm.
template <class Argument>
concept joins = requires(Argument argument) {
  join(argument);
};
static_assert(joins<MPI_Comm> && !joins<MPI_Comm*> && !joins<const void*> &&
              !joins<std::nullptr_t>);

// Compares the shape, the coordinates and all neighbours with those of MPI.
void expect_same_grid(const rank_grid& grid, MPI_Comm cart, cart_order order) {
  int dimensions = 0;
  MPI_Cartdim_get(cart, &dimensions);
  ASSERT_EQ(grid.dimensions(), dimensions);
  std::array<int, 3> shape{}, periods{}, here{};
  MPI_Cart_get(cart, dimensions, shape.data(), periods.data(), here.data());
  for (int direction = 0; direction < dimensions; ++direction) {
    const int d = order == cart_order::same ? direction : dimensions - 1 - direction;
    EXPECT_EQ(grid.shape()[d], shape[direction]);
    EXPECT_EQ(grid.coordinates()[d], here[direction]);
    EXPECT_EQ(grid.periodic()[d], periods[direction] != 0);
    int below = 0, above = 0;
    MPI_Cart_shift(cart, direction, 1, &below, &above);
    halo_direction up{}, down{};
    up.step[d] = 1, down.step[d] = -1;
    EXPECT_EQ(grid.neighbour(up), above == MPI_PROC_NULL ? -1 : above);
    EXPECT_EQ(grid.neighbour(down), below == MPI_PROC_NULL ? -1 : below);
  }
  for (int rank = 0; rank < grid.ranks().size(); ++rank) {
    std::array<int, 3> coordinates{};
    MPI_Cart_coords(cart, rank, dimensions, coordinates.data());
    if (order == cart_order::reversed)
      std::reverse(coordinates.begin(), coordinates.begin() + dimensions);
    EXPECT_EQ(grid.rank_at(coordinates), rank);
  }
}

TEST(CartGrid, is_the_grid_of_mpi) {
  const world world;
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int periods = 0; periods < 1 << dimensions; ++periods)
      for (int reorder = 0; reorder < 2; ++reorder) {
        std::array<int, 3> shape{}, periodic{periods & 1, periods >> 1 & 1, periods >> 2 & 1};
        MPI_Dims_create(world.size, dimensions, shape.data());
        MPI_Comm cart = MPI_COMM_NULL;
        MPI_Cart_create(MPI_COMM_WORLD, dimensions, shape.data(), periodic.data(), reorder, &cart);
        const auto ranks = join(cart);
        for (const cart_order order : {cart_order::same, cart_order::reversed})
          expect_same_grid(cart_grid(*ranks, cart, order), cart, order);
        MPI_Comm_free(&cart);
      }
}

// Each rank sends its number to all neighbours, so a transposed grid gives other numbers.
TEST(CartGrid, exchanges_with_the_neighbours_of_mpi) {
  const world world;
  std::array<int, 3> shape{}, periodic{1, 1, 0};
  MPI_Dims_create(world.size, 3, shape.data());
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 3, shape.data(), periodic.data(), 0, &cart);
  {
    const auto ranks = join(cart);
    for (const cart_order order : {cart_order::same, cart_order::reversed}) {
      const rank_grid grid = cart_grid(*ranks, cart, order);
      field<int> cells(grid, {2, 3, 4}, 1);
      for (int z = -1; z <= 4; ++z)
        for (int y = -1; y <= 3; ++y)
          for (int x = -1; x <= 2; ++x) {
            const bool is_interior = z >= 0 && z < 4 && y >= 0 && y < 3 && x >= 0 && x < 2;
            cells(z, y, x) = is_interior ? ranks->rank() : -1;
          }
      halo_exchange(grid, {}, cells).exchange();
      for (int direction = 0; direction < 3; ++direction) {
        int below = 0, above = 0;
        MPI_Cart_shift(cart, direction, 1, &below, &above);
        const int d = order == cart_order::same ? direction : 2 - direction;
        std::array<int, 3> low{0, 0, 0}, high{0, 0, 0};
        low[d] = -1, high[d] = static_cast<int>(cells.extents()[d]);
        EXPECT_EQ(cells(low[2], low[1], low[0]), below == MPI_PROC_NULL ? -1 : below);
        EXPECT_EQ(cells(high[2], high[1], high[0]), above == MPI_PROC_NULL ? -1 : above);
      }
    }
  }
  MPI_Comm_free(&cart);
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    return e.what();
  }
  return "";
}

TEST(CartGrid, refuses_other_communicators) {
  const world world;
  const auto ranks = join(MPI_COMM_WORLD);
  const auto refused = [&](MPI_Comm communicator) {
    return refusal([&] { (void)cart_grid(*ranks, communicator); });
  };
  EXPECT_NE(refused(MPI_COMM_NULL).find("MPI_COMM_NULL"), std::string::npos);
  EXPECT_NE(refused(MPI_COMM_WORLD).find("MPI_Cart_create"), std::string::npos);
  const std::array<int, 4> four{world.size, 1, 1, 1}, none{};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 4, four.data(), none.data(), 0, &cart);
  EXPECT_NE(refused(cart).find("4 dimensions"), std::string::npos);
  MPI_Comm_free(&cart);
  if (world.size > 1) {
    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &backwards);
    MPI_Cart_create(backwards, 1, four.data(), none.data(), 0, &cart);
    EXPECT_NE(refused(cart).find("another order"), std::string::npos);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&backwards);
  }
  runtime({.transport = "threads", .ranks = 1}).run([&](team& alone) {
    const MPI_Comm self = MPI_COMM_SELF;
    EXPECT_NE(refusal([&] { (void)cart_grid(alone, self); }).find("over threads"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace longshore

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  int failed = 0;
  try {
    (void)longshore::join(MPI_COMM_WORLD);
    failed = 1;
  } catch (const longshore::error& e) {
    if (std::string_view(e.what()).find("before MPI_Init") == std::string_view::npos) failed = 1;
  }
  if (failed != 0) fmt::print(stderr, "a team before MPI_Init was not refused as it should be\n");
  MPI_Init(&argc, &argv);
  if (RUN_ALL_TESTS() != 0) failed = 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}

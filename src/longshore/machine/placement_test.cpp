// Conversions between positions and coordinates, and the errors of invalid placements.
#include <longshore/core/error.hpp>
#include <longshore/machine/placement.hpp>

#include <gtest/gtest.h>

#include <set>

namespace longshore {
namespace {

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

placement published() {
  return placement({{"node", {3, 3, 3}},
                    {"socket", {1, 1, 2}},
                    {"numa", {1, 2, 2}},
                    {"l3", {2, 2, 1}},
                    {"core", {2, 1, 1}}});
}

TEST(Placement, coordinates_are_the_sum_over_levels_of_coordinate_times_inner_extent) {
  const placement placed = published();
  EXPECT_EQ(placed.shape(), (grid_triple{12, 12, 12}));
  EXPECT_EQ(placed.size(), 1728);
  EXPECT_EQ(placed.block(0), (grid_triple{4, 4, 4}));
  EXPECT_EQ(placed.block(1), (grid_triple{4, 4, 2}));
  EXPECT_EQ(placed.block(4), (grid_triple{1, 1, 1}));
  EXPECT_EQ(placed.coordinates_of(0), (grid_triple{0, 0, 0}));
  EXPECT_EQ(placed.coordinates_of(1), (grid_triple{1, 0, 0}));   // the next core
  EXPECT_EQ(placed.coordinates_of(2), (grid_triple{2, 0, 0}));   // the next cache
  EXPECT_EQ(placed.coordinates_of(4), (grid_triple{0, 1, 0}));   // the second cache along y
  EXPECT_EQ(placed.coordinates_of(8), (grid_triple{0, 2, 0}));   // the next NUMA domain
  EXPECT_EQ(placed.coordinates_of(32), (grid_triple{0, 0, 2}));  // the next socket
  EXPECT_EQ(placed.coordinates_of(64), (grid_triple{4, 0, 0}));  // the next node
}

TEST(Placement, every_position_has_unique_coordinates_in_every_order) {
  for (const char* order : {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"}) {
    const auto dimensions = dimension_order_from(order);
    EXPECT_EQ(name_of(dimensions), order);
    const placement placed(
        {{"node", {3, 1, 5}, dimensions}, {"socket", {1, 2, 1}}, {"core", {2, 3, 2}, dimensions}});
    const rank_order rows(placed.shape(), dimensions);
    std::set<grid_triple> of_placement, of_rows;
    for (int position = 0; position < placed.size(); ++position) {
      const auto at = placed.coordinates_of(position), in_rows = rows.coordinates_of(position);
      for (int d = 0; d < 3; ++d) ASSERT_TRUE(at[d] >= 0 && at[d] < placed.shape()[d]);
      ASSERT_EQ(placed.position_at(at), position);
      ASSERT_EQ(rows.position_at(in_rows), position);
      of_placement.insert(at), of_rows.insert(in_rows);
    }
    EXPECT_EQ(of_placement.size(), 360u);
    EXPECT_EQ(of_rows.size(), 360u);
  }
  const placement by_z({{"core", {2, 1, 2}, dimension_order_from("zxy")}});
  EXPECT_EQ(by_z.coordinates_of(1), (grid_triple{0, 0, 1}));
  EXPECT_EQ(mpi_cartesian_order({2, 3, 4}).coordinates_of(5), (grid_triple{0, 1, 1}));
}

TEST(Placement, errors_name_the_level_and_the_numbers) {
  const std::vector<hardware_level> machine{{"node", 27}, {"socket", 4}, {"core", 2}};
  const auto of = [&](std::vector<placement_level> levels) {
    return message_of([&] { placement(std::move(levels)).check(machine); });
  };
  EXPECT_EQ(of({{"node", {3, 3, 3}}, {"socket", {1, 1, 2}}, {"core", {2, 1, 1}}}),
            "socket 1x1x2 makes 2, the machine has 4");
  EXPECT_EQ(of({{"node", {3, 3, 3}}, {"core", {2, 1, 1}}}),
            "level core does not fit the machine: its levels are node:27,socket:4,core:2, in this "
            "order");
  EXPECT_EQ(of({{"node", {3, 3, 3}}}),
            "level socket of the machine (node:27,socket:4,core:2) has no grid");
  EXPECT_EQ(of({{"node", {3, 3, 3}}, {"socket", {1, 2, 2}}, {"core", {2, 1, 1}}}), "no error");
  EXPECT_EQ(message_of([] {
              placement({{"node", {3, 0, 3}}});
            }),
            "node 3x0x3: each number must be at least 1");
  EXPECT_NE(message_of([] {
              placement({{"node", {2000, 2000, 2000}}});
            }).find("2^30"),
            std::string::npos);
  EXPECT_NE(message_of([] { placement({}); }).find("without levels"), std::string::npos);
  EXPECT_NE(message_of([] { static_cast<void>(dimension_order_from("xxz")); }).find("'xxz'"),
            std::string::npos);
  const std::vector<hardware_level> none{{"node", 0}};
  EXPECT_EQ(message_of([&] { static_cast<void>(position_count(none)); }),
            "level node: a count of 0; it must be at least 1");
}

TEST(MpiDimsCreate, factors_are_balanced_and_do_not_increase) {
  EXPECT_EQ(mpi_dims_create(1), (grid_triple{1, 1, 1}));
  EXPECT_EQ(mpi_dims_create(6), (grid_triple{3, 2, 1}));
  EXPECT_EQ(mpi_dims_create(7), (grid_triple{7, 1, 1}));
  EXPECT_EQ(mpi_dims_create(12), (grid_triple{3, 2, 2}));
  EXPECT_EQ(mpi_dims_create(36), (grid_triple{4, 3, 3}));
  EXPECT_EQ(mpi_dims_create(1728), (grid_triple{12, 12, 12}));
  EXPECT_EQ(mpi_dims_create(12, 2), (grid_triple{4, 3, 1}));
  EXPECT_EQ(mpi_dims_create(12, 1), (grid_triple{12, 1, 1}));
  EXPECT_EQ(mpi_dims_create(12, 3, {0, 3, 0}), (grid_triple{2, 3, 2}));
  EXPECT_NE(message_of([] {
              static_cast<void>(mpi_dims_create(12, 3, {5, 0, 0}));
            }).find("5x0x0"),
            std::string::npos);
}

}  // namespace
}  // namespace longshore

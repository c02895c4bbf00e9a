// Tests mode neighbor with an MPI library that confuses the two sides of a dimension in which both
// neighbours are the same rank. This program injects the fault: it intercepts the calls of the mode
// by MPI's profiling interface.
#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/face_exchange.hpp>
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <vector>

namespace {

// If false, calls go to the library unchanged.
bool intercepts = false;
bool confuses_sides = false;
int calls = 0;

// The block whose memory the faulty library would use for each received block.
std::vector<int> faulty_order(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  std::vector<int> order;
  if (topology == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; ++d) {
      int down = 0, up = 0;
      PMPI_Cart_shift(comm, d, 1, &down, &up);
      const bool swapped = confuses_sides && down == up && down != MPI_PROC_NULL;
      order.push_back(2 * d + (swapped ? 1 : 0));
      order.push_back(2 * d + (swapped ? 0 : 1));
    }
    return order;
  }
  // On a graph, the edges from the same source are reversed.
  int incoming = 0, outgoing = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &incoming, &outgoing, &weighted);
  std::vector<int> sources(incoming), destinations(outgoing), weights_in(incoming),
      weights_out(outgoing);
  PMPI_Dist_graph_neighbors(comm, incoming, sources.data(), weights_in.data(), outgoing,
                            destinations.data(), weights_out.data());
  for (int i = 0; i < incoming; ++i) {
    std::vector<int> same_source;
    std::size_t position = 0;
    for (int j = 0; j < incoming; ++j) {
      if (sources[j] != sources[i]) continue;
      if (j == i) position = same_source.size();
      same_source.push_back(j);
    }
    order.push_back(confuses_sides ? same_source[same_source.size() - 1 - position] : i);
  }
  return order;
}

}  // namespace

// Both calls receive the data of block i in the memory of block order[i].
extern "C" int MPI_Neighbor_alltoallv(const void* sent, const int* send_counts,
                                      const int* send_offsets, MPI_Datatype send_type,
                                      void* received, const int* receive_counts,
                                      const int* receive_offsets, MPI_Datatype receive_type,
                                      MPI_Comm comm) {
  if (!intercepts)
    return PMPI_Neighbor_alltoallv(sent, send_counts, send_offsets, send_type, received,
                                   receive_counts, receive_offsets, receive_type, comm);
  ++calls;
  const auto order = faulty_order(comm);
  std::vector<int> counts, offsets;
  for (const int block : order) {
    counts.push_back(receive_counts[block]);
    offsets.push_back(receive_offsets[block]);
  }
  return PMPI_Neighbor_alltoallv(sent, send_counts, send_offsets, send_type, received,
                                 counts.data(), offsets.data(), receive_type, comm);
}

extern "C" int MPI_Neighbor_alltoall(const void* sent, int send_count, MPI_Datatype send_type,
                                     void* received, int receive_count, MPI_Datatype receive_type,
                                     MPI_Comm comm) {
  if (!intercepts)
    return PMPI_Neighbor_alltoall(sent, send_count, send_type, received, receive_count,
                                  receive_type, comm);
  ++calls;
  const auto order = faulty_order(comm);
  int type_bytes = 0;
  PMPI_Type_size(receive_type, &type_bytes);
  const auto block_bytes =
      static_cast<std::size_t>(receive_count) * static_cast<std::size_t>(type_bytes);
  std::vector<char> straight(order.size() * block_bytes);
  const int status = PMPI_Neighbor_alltoall(sent, send_count, send_type, straight.data(),
                                            receive_count, receive_type, comm);
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(static_cast<char*>(received) + static_cast<std::size_t>(order[i]) * block_bytes,
                straight.data() + i * block_bytes, block_bytes);
  return status;
}

namespace longshore {
namespace {

using testing::spmd;

std::byte element(int rank, std::size_t side) {
  return static_cast<std::byte>(10 * rank + static_cast<int>(side));
}

void exchange(face_exchange& faces, int rank) {
  for (std::size_t side = 0; side < faces.sides().size(); ++side)
    for (auto& byte : faces.outgoing(side)) byte = element(rank, side);
  faces.start();
  faces.wait();
}

class NeighborMode : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    intercepts = true;
    confuses_sides = GetParam();
    calls = 0;
  }
  void TearDown() override { intercepts = false; }
};

TEST_P(NeighborMode, fields_are_right) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi") return;
    for (const auto& shape :
         {std::array{0, 0, 0}, std::array{team.size(), 1, 1}, std::array{1, team.size(), 1}})
      for (const auto algorithm : {halo_algorithm::faces, halo_algorithm::standard}) {
        const rank_grid grid(team, {.ranks = shape});
        // The sides have different widths.
        field<double> u(grid, {3, 4, 5}, halo_widths({1, 2, 3}, {2, 0, 1}));
        halo_exchange halos(grid, {.algorithm = algorithm, .mode = halo_mode::neighbor}, u);
        for (std::uint64_t tag = 1; tag <= 2; ++tag) {
          fill_cells(u, grid, tag);
          halos.exchange();
          const auto wrong =
              first_wrong_cell(u, equal_block(grid, u.extents()), tag, grid, algorithm, u.widths());
          EXPECT_FALSE(wrong.has_value()) << *wrong;
        }
      }
    EXPECT_GT(calls, 0);
  });
}

TEST_P(NeighborMode, contiguous_faces_are_right) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi") return;
    const rank_grid grid(team);
    face_exchange faces(grid, {64, halo_mode::neighbor});
    exchange(faces, team.rank());
    for (std::size_t side = 0; side < 6; ++side)
      for (const auto byte : faces.received(side))
        EXPECT_EQ(byte, element(grid.neighbour(faces.sides()[side]), side ^ 1));
    EXPECT_GT(calls, 0);
  });
}

// An inner rank has more faces than a rank at a border.
TEST_P(NeighborMode, ranks_at_a_border_and_inside_make_the_same_call) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi") return;
    const rank_grid grid(team, {.dimensions = 1, .periodic = {false, false, false}});
    face_exchange faces(grid, {64, halo_mode::neighbor});
    exchange(faces, team.rank());
    int in_place = 0, buffered = 0;
    for (std::size_t side = 0; side < 2; ++side) {
      const int peer = grid.neighbour(faces.sides()[side]);
      if (peer < 0) continue;
      (faces.received(side).data() == faces.incoming(side).data() ? in_place : buffered) = 1;
      for (const auto byte : faces.received(side)) EXPECT_EQ(byte, element(peer, side ^ 1));
    }
    EXPECT_LE(team.allreduce_value(in_place, reduction::max) +
                  team.allreduce_value(buffered, reduction::max),
              1);
  });
}

INSTANTIATE_TEST_SUITE_P(Library, NeighborMode, ::testing::Bool(), [](const auto& with) {
  return with.param ? "confuses_sides" : "is_right";
});

}  // namespace
}  // namespace longshore

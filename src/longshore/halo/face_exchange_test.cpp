// Tests the exchange of one contiguous buffer per face, in every mode. Each received element must
// be the one that the neighbour on that side sent.
#include <longshore/core/error.hpp>
#include <longshore/exchange/caches_test.hpp>
#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/face_exchange.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace longshore {
namespace {

using testing::spmd;

std::uint32_t element(int rank, std::size_t side, std::size_t index, int exchange) {
  return static_cast<std::uint32_t>(mix_bits((static_cast<std::uint64_t>(rank) << 40) +
                                             (static_cast<std::uint64_t>(exchange) << 32) +
                                             (side << 28) + index));
}

void write(face_exchange& faces, int rank, int exchange) {
  for (std::size_t side = 0; side < faces.sides().size(); ++side) {
    const auto out = faces.outgoing(side);
    for (std::size_t i = 0; i < out.size() / 4; ++i) {
      const auto value = element(rank, side, i, exchange);
      std::memcpy(out.data() + 4 * i, &value, 4);
    }
  }
}

void run(face_exchange& faces, int rank, int exchange) {
  write(faces, rank, exchange);
  faces.start();
  faces.wait();
}

std::size_t wrong_elements(const rank_grid& grid, face_exchange& faces, int exchange) {
  std::size_t wrong = 0;
  for (std::size_t side = 0; side < faces.sides().size(); ++side) {
    const int peer = grid.neighbour(faces.sides()[side]);
    const auto in = faces.received(side);
    if (peer < 0) {
      wrong += !in.empty();
      continue;
    }
    for (std::size_t i = 0; i < in.size() / 4; ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, in.data() + 4 * i, 4);
      wrong += value != element(peer, side ^ 1, i, exchange);
    }
  }
  return wrong;
}

TEST(FaceExchange, every_element_arrives_in_every_mode) {
  spmd([](team& team) {
    int exchanges = 0;
    for (const bool periodic : {true, false})
      for (const int dimensions : {3, 2, 1}) {
        const rank_grid grid(
            team, {.dimensions = dimensions, .periodic = {periodic, periodic, periodic}});
        for (const auto mode : values_of<halo_mode>())
          for (const auto delivery : {halo_delivery::unpacked, halo_delivery::in_place})
            for (const std::size_t bytes : {std::size_t{1000}, std::size_t{80000}}) {
              if (delivery == halo_delivery::in_place && mode != halo_mode::channel) continue;
              // Making windows takes long.
              if (mode >= halo_mode::rma_fence && team.size() > 2 && dimensions < 3) continue;
              if (why_not(mode, team.transport_name(), grid.shape(), grid.wraps())) continue;
              face_exchange faces(grid, {bytes, mode, delivery});
              for (int exchange = 0; exchange < (bytes > 1000 ? 2 : 4); ++exchange) {
                write(faces, team.rank(), exchange);
                faces.start();
                if (exchange % 2 == 0)
                  for (waiter wait(team, "an exchange of faces"); !faces.test(); wait.pause()) {
                  }
                else
                  faces.wait();
                EXPECT_EQ(wrong_elements(grid, faces, exchange), 0u)
                    << name_of(mode) << " " << bytes << " exchange " << exchange;
                ++exchanges;
              }
            }
      }
    EXPECT_GE(exchanges, 6 * 3 * (4 + 2));
  });
}

TEST(FaceExchange, every_element_arrives_under_every_placement) {
  spmd([](team& team) {
    for (const auto placement : {grid_placement::cart, grid_placement::automatic})
      for (const auto mode : values_of<halo_mode>()) {
        const rank_grid grid(team, {.placement = placement});
        if (why_not(mode, team.transport_name(), grid.shape(), grid.periodic())) continue;
        face_exchange faces(grid, {1000, mode});
        for (int exchange = 0; exchange < 2; ++exchange) {
          run(faces, team.rank(), exchange);
          EXPECT_EQ(wrong_elements(grid, faces, exchange), 0u)
              << name_of(placement) << " " << name_of(mode);
        }
      }
  });
}

TEST(FaceExchange, unpacked_messages_arrive_at_the_same_addresses_in_each_exchange) {
  spmd([](team& team) {
    const rank_grid grid(team);
    face_exchange faces(grid, {4096});
    for (int exchange = 0; exchange < 3; ++exchange) {
      run(faces, team.rank(), exchange);
      for (std::size_t side = 0; side < 6; ++side)
        EXPECT_EQ(faces.received(side).data(), faces.incoming(side).data());
    }
  });
}

TEST(FaceExchange, messages_read_in_place_are_not_counted_as_messages) {
  spmd([](team& team) {
    const testing::assumed_caches caches(team, false);
    const rank_grid grid(team);
    std::uint64_t near = 0, far = 0;
    for (const auto& side : face_directions(3)) {
      const int peer = grid.neighbour(side);
      if (peer != team.rank()) ++(team.nodes().is_local(peer) ? near : far);
    }
    for (const std::uint64_t bytes : {std::uint64_t{1000}, std::uint64_t{80000}})
      for (const auto mode : {halo_mode::channel, halo_mode::direct}) {
        const auto moved = face_exchange(grid, {bytes, mode}).moved();
        const std::uint64_t sent = mode == halo_mode::channel && bytes == 1000 ? near : 0;
        EXPECT_EQ(moved.payload_bytes, 6 * bytes);
        EXPECT_LE(moved.messages, sent + far);
        EXPECT_EQ(moved.messages > 0, sent + far > 0);
        EXPECT_EQ(moved.wire_bytes, (far + sent) * bytes);
        EXPECT_EQ(moved.offnode_bytes, far * bytes);
      }
  });
}

TEST(FaceExchange, swapped_sides_are_detected) {
  spmd([](team& team) {
    const rank_grid grid(team);
    face_exchange faces(grid, {4096});
    run(faces, team.rank(), 0);
    ASSERT_EQ(wrong_elements(grid, faces, 0), 0u);
    for (std::size_t i = 0; i < 4096; ++i) std::swap(faces.incoming(0)[i], faces.incoming(1)[i]);
    EXPECT_GT(wrong_elements(grid, faces, 0), 1000u);
  });
}

TEST(FaceExchange, wrong_use_is_refused) {
  spmd([](team& team) {
    const rank_grid grid(team);
    EXPECT_THROW(face_exchange(grid, {0}), error);
    EXPECT_THROW(face_exchange(grid, {PTRDIFF_MAX}), error);
    face_exchange faces(grid, {8});
    EXPECT_THROW(faces.wait(), error);
    faces.start();
    EXPECT_THROW(faces.start(), error);
    faces.wait();
    EXPECT_TRUE(faces.test());
  });
}

}  // namespace
}  // namespace longshore

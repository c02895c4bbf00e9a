// Tests the guarantees of plans other than right cells: running ahead, overlap, traffic counts,
// untouched cells, algorithm auto, and errors.
#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/exchange/caches_test.hpp>
#include <longshore/halo/halo_test.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore {
namespace {

using testing::algorithms;
using testing::expect_right;
using testing::expect_right_exchanges;
using testing::possible_modes;
using testing::possible_pairs;
using testing::spmd;
using testing::text_of;

void delay() {
  for (const double until = monotonic_seconds() + 50e-6; monotonic_seconds() < until;) {
  }
}

TEST(HaloPlan, ranks_may_run_ahead_of_their_neighbours) {
  spmd([](team& team) {
    const rank_grid grid(team);
    random_stream random(7, static_cast<std::uint64_t>(team.rank()));
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode};
      field<float> u(grid, {6, 3, 3}, 1);
      halo_exchange halos(grid, options, u);
      for (std::uint64_t tag = 1; tag <= 30; ++tag) {
        fill_cells(u, grid, tag);
        if (random.below(8) == 0) delay();
        halos.start();
        if (random.below(8) == 0) delay();
        if (random.below(2) == 0)
          for (waiter wait(team, "a halo exchange"); !halos.test(); wait.pause()) {
          }
        else
          halos.wait();
        EXPECT_TRUE(halos.test());
        expect_right(u, tag, grid, options);
      }
    }
  });
}

TEST(HaloPlan, an_empty_plan_can_be_assigned) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {4, 4, 4}, 1);
    halo_exchange halos;
    const auto expect_empty = [&] {
      EXPECT_FALSE(halos);
      for (const auto& call : std::vector<std::function<void()>>{
               [&] { halos.start(); }, [&] { halos.exchange({.width = 1}); }, [&] { halos.wait(); },
               [&] { halos.accumulate(op::add{}); }, [&] { halos.assemble(op::add{}); },
               [&] { (void)halos.test(); }, [&] { (void)halos.moved(); },
               [&] { (void)halos.transfers(); }}) {
        try {
          call();
          ADD_FAILURE() << "no error on rank " << team.rank();
        } catch (const error& e) {
          EXPECT_EQ(e.code(), errc::usage);
          EXPECT_NE(std::string(e.what()).find("a halo plan is empty"), std::string::npos);
        }
      }
    };
    expect_empty();
    halos = halo_exchange(grid, {}, u);
    EXPECT_TRUE(halos);
    fill_cells(u, grid, 5);
    halos.exchange();
    expect_right(u, 5, grid, {});
    const halo_exchange other = std::move(halos);
    expect_empty();
  });
}

TEST(HaloPlan, many_plans_are_in_flight_together) {
  spmd([](team& team) {
    const rank_grid grid(team);
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode};
      std::vector<field<double>> fields;
      for (int i = 0; i < 5; ++i) fields.emplace_back(grid, std::array<std::size_t, 3>{4, 4, 4}, 1);
      std::vector<std::unique_ptr<halo_exchange>> plans;
      for (auto& u : fields) plans.push_back(std::make_unique<halo_exchange>(grid, options, u));
      for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        for (std::size_t i = 0; i < fields.size(); ++i) fill_cells(fields[i], grid, 10 * tag + i);
        for (auto& plan : plans) plan->start();
        // in the reverse order of their starts
        for (std::size_t i = plans.size(); i-- > 0;) plans[i]->wait();
        for (std::size_t i = 0; i < fields.size(); ++i)
          expect_right(fields[i], 10 * tag + i, grid, options);
      }
    }
  });
}

TEST(HaloPlan, traffic_agrees_with_the_formula) {
  spmd([](team& team) {
    const testing::assumed_caches caches(team, false);
    const rank_grid grid(team);
    constexpr std::uint64_t a = 5, b = 6, c = 7, h = 2, fields = 2;
    field<double> u(grid, {a, b, c}, h), v(grid, {a, b, c}, h);
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_exchange halos(grid, {.algorithm = algorithm, .mode = mode}, u, v);
      const auto moved = halos.moved();
      const std::uint64_t faces = 2 * h * (a * b + b * c + c * a),
                          all = (a + 2 * h) * (b + 2 * h) * (c + 2 * h) - a * b * c;
      EXPECT_EQ(moved.payload_bytes,
                fields * sizeof(double) * (algorithm == halo_algorithm::faces ? faces : all))
          << text_of(algorithm, mode);
      const bool is_staged =
          algorithm == halo_algorithm::staged || algorithm == halo_algorithm::staged_sequenced;
      const bool is_sequenced =
          algorithm == halo_algorithm::sequenced || algorithm == halo_algorithm::staged_sequenced;
      std::size_t cut = 0;  // dimensions with several ranks
      for (const int ranks_there : grid.shape()) cut += ranks_there > 1;
      const std::size_t rounds =
          (is_staged ? cut : std::min<std::size_t>(cut, 1)) * (is_sequenced ? fields : 1);
      EXPECT_TRUE(algorithm == halo_algorithm::hybrid || halos.rounds() == rounds)
          << halos.rounds() << " not " << rounds;
      EXPECT_LE(moved.wire_bytes, moved.payload_bytes);
      EXPECT_LE(moved.offnode_bytes, moved.wire_bytes);
      if (algorithm == halo_algorithm::hybrid) continue;  // the next test counts its messages
      std::uint64_t directions = 0, remote = 0, distant = 0;
      for (const auto& direction : is_staged || algorithm == halo_algorithm::faces
                                       ? face_directions(3)
                                       : all_directions(3)) {
        const int peer = grid.neighbour(direction);
        bool is_own_halo = false;  // along a dimension with one rank it is copied, not sent
        for (int d = 0; d < 3; ++d)
          is_own_halo = is_own_halo || (direction.step[d] != 0 && grid.shape()[d] == 1);
        ++directions;
        remote += !is_own_halo;
        distant += !team.nodes().is_local(peer);
      }
      const std::uint64_t times = is_sequenced ? fields : 1;
      EXPECT_TRUE(!is_mpi_mode(mode) || moved.messages == times * directions);
      // Small messages to one neighbour on another node travel as one.
      if (mode == halo_mode::channel) {
        EXPECT_LE(moved.messages, times * remote);
        EXPECT_TRUE(distant > 0 || moved.messages == times * remote);
      }
      if (mode == halo_mode::direct) {
        EXPECT_LE(moved.messages, times * distant);
        EXPECT_EQ(moved.messages > 0, distant > 0);
      }
      EXPECT_EQ(moved.offnode_bytes > 0, distant > 0);
    }
  });
}

TEST(HaloPlan, hybrid_sends_at_most_one_message_per_face_between_nodes) {
  spmd([](team& team) {
    const testing::assumed_caches caches(team, false);
    const rank_grid grid(team);
    field<double> u(grid, {40, 3, 3}, 2);  // too few lines to pack a face on a node
    const auto standard = halo_exchange(grid, {.algorithm = halo_algorithm::standard}, u).moved();
    const auto hybrid = halo_exchange(grid, {.algorithm = halo_algorithm::hybrid}, u).moved();
    EXPECT_EQ(hybrid.payload_bytes, standard.payload_bytes);
    EXPECT_LE(hybrid.messages, 6u);
    EXPECT_EQ(hybrid.messages > 0, standard.messages > 0);
  });
}

TEST(HaloPlan, stencils_without_corners_or_edges_need_fewer_messages) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {5, 6, 7}, 2);
    for (const auto& [mode, algorithm] : possible_pairs(grid))
      for (const auto reach : {halo_reach::faces, halo_reach::edges}) {
        const halo_options options{.algorithm = algorithm, .mode = mode, .reach = reach};
        halo_exchange halos(grid, options, u);
        fill_cells(u, grid, 4);
        halos.exchange();
        const auto wrong =
            first_wrong_cell(u, equal_block(grid, u.extents()), 4, grid, algorithm, 2, reach);
        EXPECT_FALSE(wrong.has_value()) << text_of(algorithm, mode) << ": " << *wrong;
        EXPECT_TRUE(reach != halo_reach::faces || halos.rounds() <= 1u) << halos.rounds();
        if (!is_mpi_mode(mode) || algorithm != halo_algorithm::standard) continue;
        EXPECT_EQ(halos.moved().messages, reach == halo_reach::faces ? 6u : 18u);
      }
  });
}

TEST(HaloPlan, cells_beyond_a_border_stay_untouched) {
  spmd([](team& team) {
    const rank_grid grid(team, {.periodic = {false, true, false}});
    const auto block = equal_block(grid, {4, 3, 5});
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      field<double> u(grid, {4, 3, 5}, 2);
      halo_exchange halos(grid, {.algorithm = algorithm, .mode = mode}, u);
      for (int z = -2; z < 7; ++z)
        for (int y = -2; y < 5; ++y)
          // a different value on every rank
          for (int x = -2; x < 6; ++x) u(z, y, x) = 1000 + team.rank();
      halos.exchange();
      for (int z = -2; z < 7; ++z)
        for (int y = -2; y < 5; ++y)
          for (int x = -2; x < 6; ++x) {
            const bool beyond = block.first[0] + x < 0 || block.first[0] + x >= block.cells[0] ||
                                block.first[2] + z < 0 || block.first[2] + z >= block.cells[2];
            ASSERT_TRUE(!beyond || u(z, y, x) == 1000 + team.rank()) << text_of(algorithm, mode);
          }
    }
  });
}

TEST(HaloPlan, auto_chooses_the_same_algorithm_on_all_ranks) {
  spmd([](team& team) {
    for (const int dimensions : {3, 1}) {
      const rank_grid grid(team, {.dimensions = dimensions});
      for (const auto mode : {halo_mode::direct, halo_mode::channel}) {
        field<double> u(grid, {6, 5, 4}, 2);
        std::vector<float> memory(4000, 5);
        std::array<std::size_t, 3> extents{6, 5, 4};
        for (int d = dimensions; d < 3; ++d) extents[d] = 1;
        field_view<float> v(memory.data() + 2000, extents, {-1, 20, 200}, u.widths());
        halo_options options{.algorithm = halo_algorithm::automatic, .mode = mode};
        halo_exchange halos(grid, options, u, v);
        options.algorithm = halos.algorithm();
        EXPECT_NE(halos.algorithm(), halo_algorithm::automatic);
        const int mine = static_cast<int>(halos.algorithm());
        EXPECT_EQ(team.allreduce_value(mine, reduction::min),
                  team.allreduce_value(mine, reduction::max));
        EXPECT_TRUE((team.size() > 1 && dimensions > 1) ||
                    halos.algorithm() == halo_algorithm::standard);
        for (const float cell : memory) EXPECT_EQ(cell, 5);  // the trial does not touch the fields
        fill_cells(u, grid, 3);
        fill_cells(v, grid, 4);
        halos.exchange();
        expect_right(u, 3, grid, options);
        expect_right(v, 4, grid, options);
      }
    }
  });
}

// The choice depends on times, and the filled cells depend on the choice. So every reach is tested
// in every mode, with one field and with two, which have more candidates.
TEST(HaloPlan, auto_fills_the_cells_of_its_choice_with_every_reach_and_mode) {
  spmd([](team& team) {
    const rank_grid grid(team, {.periodic = {true, false, true}});
    for (const auto mode : possible_modes(grid))
      for (const auto reach : {halo_reach::faces, halo_reach::edges, halo_reach::corners})
        for (const int fields : {1, 2}) {
          field<double> u(grid, {5, 6, 7}, 2), v(grid, {5, 6, 7}, 2);
          halo_options options{
              .algorithm = halo_algorithm::automatic, .mode = mode, .reach = reach};
          std::vector<field_memory> memories{u.memory()};
          if (fields == 2) memories.push_back(v.memory());
          halo_exchange halos(grid, options, memories);
          EXPECT_EQ(halos.filled(), filled_by(halos.algorithm(), reach));
          EXPECT_GE(halos.filled(), reach);
          options.algorithm = halos.algorithm();
          fill_cells(u, grid, 7);
          fill_cells(v, grid, 8);
          halos.exchange();
          expect_right(u, 7, grid, options);
          if (fields == 2) expect_right(v, 8, grid, options);
        }
    EXPECT_THROW(static_cast<void>(filled_by(halo_algorithm::automatic, halo_reach::edges)), error);
  });
}

// The block of one rank is too thin for the halo. All ranks refuse the plan and continue.
TEST(HaloPlan, a_width_that_does_not_fit_one_rank_is_refused_on_all) {
  spmd([](team& team) {
    const rank_grid grid(team, {.ranks = {team.size(), 1, 1}});
    for (const auto mode : possible_modes(grid)) {
      const bool is_thin = team.rank() == team.size() - 1;
      field<double> u(grid, {is_thin ? std::size_t{1} : std::size_t{4}, 4, 4}, 2);
      try {
        halo_exchange(grid, {.mode = mode}, u);
        ADD_FAILURE() << "no error";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), is_thin ? errc::usage : errc::peer_failed) << e.what();
      }
      team.barrier();
    }
  });
}

TEST(HaloPlan, other_grids_on_some_ranks_are_refused_on_all) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    const rank_grid along_x(team, {.ranks = {team.size(), 1, 1}});
    const rank_grid along_y(team, {.ranks = {1, team.size(), 1}});
    const auto& grid = team.rank() == 1 ? along_y : along_x;
    field<double> u(grid, {4, 4, 4}, 1);
    try {
      halo_exchange(grid, {}, u);
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage) << e.what();
      EXPECT_NE(std::string(e.what()).find("a grid of"), std::string::npos) << e.what();
    }
    team.barrier();
  });
}

// A rank without shareable memory must still take part in the handshake of its neighbours.
TEST(HaloPlan, fields_that_are_shareable_on_some_ranks_only_are_exchanged) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const std::array<std::size_t, 3> extents{50, 50, 1};
    const std::ptrdiff_t row = 52, plane = 52 * 52;
    std::vector<double> memory(static_cast<std::size_t>(3 * plane));
    for (const auto mode : {halo_mode::channel, halo_mode::direct}) {
      const field<double> shareable(grid, extents, 1);
      const field_view<double> plain(memory.data() + plane + row + 1, extents, {1, row, plane}, 1);
      const field_view<double> u = team.rank() == 0 ? plain : shareable;
      halo_exchange halos(grid, {.mode = mode}, u);
      fill_cells(u, grid, 3);
      halos.exchange();
      const auto wrong =
          first_wrong_cell(u, equal_block(grid, extents), 3, grid, halos.filled(), 1);
      EXPECT_FALSE(wrong.has_value()) << *wrong;
    }
  });
}

TEST(HaloPlan, several_tasks_pack_like_one_thread) {
  spmd([](team& team) {
    const rank_grid grid(team);
    tasks workers({.layer = "threads", .count = 3, .cpus = {}});
    // Large faces, which tasks share, between ranks of the longest dimension of the grid. Few cells
    // along it, because checking cells takes time.
    std::array<std::size_t, 3> extents{70, 70, 70};
    extents[std::max_element(grid.shape().begin(), grid.shape().end()) - grid.shape().begin()] = 9;
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode, .workers = &workers};
      field<double> u(grid, extents, halo_widths({8, 7, 9}, {7, 8, 9}));
      expect_right_exchanges(1, u, grid, options);
    }
  });
}

TEST(HaloPlan, wrong_use_is_refused_with_the_reason) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {4, 4, 4}, 1);
    const auto expect = [&](const halo_options& options, errc code, const char* text) {
      try {
        halo_exchange(grid, options, u);
        ADD_FAILURE() << "no error: " << text;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), code) << e.what();
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
      }
    };
    expect({.width = 2}, errc::usage, "memory for 0 to 1");
    expect({.width = halo_widths({-1, 0, 0}, {0, 0, 0})}, errc::usage, "-1");
    if (team.transport_name() != "mpi")
      expect({.mode = halo_mode::waitall}, errc::unsupported, "MPI calls");
    if (grid.shape()[0] % 2 != 0 && grid.shape()[0] > 1 && team.transport_name() == "mpi")
      expect({.mode = halo_mode::redblack}, errc::unsupported, "even");
    EXPECT_THROW(static_cast<void>(from_name<halo_mode>("waital")), error);
    EXPECT_THROW(static_cast<void>(from_name<halo_algorithm>("face")), error);

    field<double> thin(grid, {4, 1, 4}, 2);
    EXPECT_THROW(halo_exchange(grid, {}, thin), error);  // wider than its interior
    halo_exchange halos(grid, {}, u);
    EXPECT_THROW(halos.wait(), error);
    halos.start();
    EXPECT_THROW(halos.start(), error);
    halos.wait();
  });
}

}  // namespace
}  // namespace longshore

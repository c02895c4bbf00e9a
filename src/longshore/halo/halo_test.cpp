// Every algorithm in every mode, on every transport, against the value that each cell must have.
#include <longshore/core/error.hpp>
#include <longshore/halo/cells.hpp>
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::spmd;

// The modes that this transport can do on this grid. One-sided ones are tried by few ranks, and by more in a test of their own:
// windows take long to make where ranks outnumber cores.
std::vector<halo_mode> possible_modes(const rank_grid& grid, bool also_slow = false) {
  std::vector<halo_mode> modes;
  auto periodic = grid.periodic();
  for (int d = grid.dimensions(); d < 3; ++d) periodic[d] = false;
  for (std::size_t i = 0; i < halo_mode_names().size(); ++i) {
    const auto mode = static_cast<halo_mode>(i);
    if (mode >= halo_mode::rma_fence && grid.ranks().size() > 2 && !also_slow) continue;
    if (!why_not(mode, grid.ranks().transport_name(), grid.shape(), periodic)) modes.push_back(mode);
  }
  return modes;
}

void dawdle() {
  for (const double until = monotonic_seconds() + 50e-6; monotonic_seconds() < until;) {
  }
}

constexpr std::array<halo_algorithm, 6> algorithms = {halo_algorithm::standard,         halo_algorithm::staged,
                                                      halo_algorithm::sequenced,        halo_algorithm::hybrid,
                                                      halo_algorithm::staged_sequenced, halo_algorithm::faces};

// Which pairs are tried here: all by few ranks; by many, whose launches take long, what depends on their number.
bool is_tried(const team& team, halo_algorithm algorithm, halo_mode mode) {
  if (!is_mpi_mode(mode) || team.size() <= 2) return true;
  const bool is_field_by_field = algorithm == halo_algorithm::sequenced || algorithm == halo_algorithm::staged_sequenced;
  if (is_field_by_field) return false;
  return team.size() <= 4 || algorithm == halo_algorithm::standard || algorithm == halo_algorithm::staged;
}

std::vector<std::pair<halo_mode, halo_algorithm>> possible_pairs(const rank_grid& grid) {
  std::vector<std::pair<halo_mode, halo_algorithm>> pairs;
  for (const auto mode : possible_modes(grid))
    for (const auto algorithm : algorithms)
      if (is_tried(grid.ranks(), algorithm, mode)) pairs.emplace_back(mode, algorithm);
  return pairs;
}

std::string text_of(halo_algorithm algorithm, halo_mode mode) { return fmt::format("{} {}", name_of(algorithm), name_of(mode)); }

template <class T>
void expect_right(const field_view<T>& field, std::uint64_t tag, const rank_grid& grid, const halo_options& options) {
  const auto wrong =
      wrong_cell(field, equal_block(grid, field.extents()), tag, grid, options.algorithm, options.width.value_or(field.widths()));
  EXPECT_FALSE(wrong.has_value()) << text_of(options.algorithm, options.mode) << ": " << *wrong;
}

TEST(Halo, every_cell_is_right_in_every_algorithm_and_mode) {
  spmd([](team& team) {
    int exchanges = 0;
    for (const int dimensions : {3, 2, 1})
      for (const std::array<bool, 3> periodic : {std::array{true, true, true}, {false, false, false}, {true, false, true}}) {
        if (team.size() > 4 && dimensions < 3) continue;
        const rank_grid grid(team, {.dimensions = dimensions, .periodic = periodic});
        for (const auto& [mode, algorithm] : possible_pairs(grid)) {
          const halo_options options{.algorithm = algorithm, .mode = mode};
          field<double> u(grid, {5, 4, 6}, 2);
          halo_exchange halos(grid, options, u);
          for (std::uint64_t tag = 1; tag <= 3; ++tag) {
            fill_cells(u, equal_block(grid, u.extents()), tag);
            halos.exchange();
            expect_right(u, tag, grid, options);
            ++exchanges;
          }
        }
      }
    EXPECT_GE(exchanges, (team.size() > 4 ? 1 : 3) * 3 * 6 * 3);
  });
}

TEST(Halo, every_cell_is_right_under_every_placement) {
  spmd([](team& team) {
    int exchanges = 0;
    const int nodes = team.nodes().node_count();
    for (const auto placement : {grid_placement::cart, grid_placement::automatic, grid_placement::levels})
      for (const std::array<bool, 3> periodic : {std::array{true, true, true}, {false, true, false}}) {
        grid_options where{.periodic = periodic, .placement = placement};
        if (placement == grid_placement::levels) {
          if (team.size() % nodes != 0 || team.nodes().largest_node() != team.size() / nodes) continue;
          where.levels = {{"node", {1, nodes, 1}, x_fastest}, {"core", {1, 1, team.size() / nodes}, z_fastest}};
        }
        const rank_grid grid(team, where);
        for (const auto& [mode, algorithm] : possible_pairs(grid)) {
          const halo_options options{.algorithm = algorithm, .mode = mode};
          field<double> u(grid, {5, 4, 6}, 2);
          halo_exchange halos(grid, options, u);
          for (std::uint64_t tag = 1; tag <= 2; ++tag) {
            fill_cells(u, equal_block(grid, u.extents()), tag);
            halos.exchange();
            expect_right(u, tag, grid, options);
            ++exchanges;
          }
        }
      }
    EXPECT_GE(exchanges, 2 * 2 * 2 * 2);
  });
}

TEST(Halo, one_sided_modes_are_right_on_any_number_of_ranks) {
  spmd([](team& team) {
    const rank_grid grid(team, {.periodic = {true, true, false}});
    for (const auto mode : possible_modes(grid, true)) {
      if (mode < halo_mode::rma_fence) continue;
      const halo_options options{.mode = mode};
      field<double> u(grid, {5, 4, 6}, halo_widths({1, 2, 0}, {2, 1, 2}));
      halo_exchange halos(grid, options, u);
      for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        fill_cells(u, equal_block(grid, u.extents()), tag);
        halos.exchange();
        expect_right(u, tag, grid, options);
      }
    }
  });
}

TEST(Halo, widths_may_differ_by_side_and_be_zero) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const std::array<halo_widths, 4> cases = {halo_widths({1, 2, 0}, {2, 0, 3}), halo_widths({0, 0, 0}, {1, 1, 1}),
                                              halo_widths({3, 3, 3}, {0, 0, 0}), halo_widths(0)};
    for (const auto& [mode, algorithm] : possible_pairs(grid))
      for (const auto& widths : cases) {
        const halo_options options{.width = widths, .algorithm = algorithm, .mode = mode};
        field<float> u(grid, {3, 4, 5}, 3);
        halo_exchange halos(grid, options, u);
        for (std::uint64_t tag = 1; tag <= 4; ++tag) {
          fill_cells(u, equal_block(grid, u.extents()), tag);
          halos.exchange();
          expect_right(u, tag, grid, options);
        }
      }
  });
}

TEST(Halo, fields_of_several_types_and_widths_share_their_messages) {
  spmd([](team& team) {
    const rank_grid grid(team);
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_options options{.algorithm = algorithm, .mode = mode};
      field<double> a(grid, {8, 3, 4}, 1);
      field<float> b(grid, {8, 3, 4}, halo_widths({2, 1, 0}, {1, 3, 2}));
      field<std::uint8_t> c(grid, {5, 6, 7}, 3);
      field<std::int64_t> d(grid, {1, 2, 3}, 1);
      halo_exchange halos(grid, options, a, b, c, d);
      for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        const auto fill = [&](const auto& field, std::uint64_t of) { fill_cells(field, equal_block(grid, field.extents()), of); };
        fill(a, 10 * tag), fill(b, 10 * tag + 1), fill(c, 10 * tag + 2), fill(d, 10 * tag + 3);
        halos.exchange();
        expect_right(a, 10 * tag, grid, options);
        expect_right(b, 10 * tag + 1, grid, options);
        expect_right(c, 10 * tag + 2, grid, options);
        expect_right(d, 10 * tag + 3, grid, options);
      }
      EXPECT_TRUE(mode == halo_mode::direct || (halos.moved().messages > 0) == (team.size() > 1 || is_mpi_mode(mode)));
    }
  });
}

TEST(Halo, the_users_memory_may_have_any_strides) {
  spmd([](team& team) {
    const rank_grid grid(team);
    // z contiguous, gaps after each row, x backwards; different on every rank, as a message does not show how its ends store cells.
    const std::array<std::size_t, 3> extents{4, 5, 3};
    std::vector<double> memory(6000, 77);
    const std::array<std::array<std::ptrdiff_t, 3>, 3> layouts = {{{1, 9, 110}, {130, 11, 1}, {-200, 20, 2}}};
    const auto& strides = layouts[team.rank() % 3];
    field_view<double> u(memory.data() + 2500, extents, strides, 2);
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_options options{.algorithm = algorithm, .mode = mode};
      halo_exchange halos(grid, options, u);
      for (std::uint64_t tag = 1; tag <= 2; ++tag) {
        fill_cells(u, equal_block(grid, extents), tag);
        halos.exchange();
        expect_right(u, tag, grid, options);
      }
    }
    std::size_t touched = 0;
    for (const double value : memory) touched += value != 77;
    EXPECT_EQ(touched, 8u * 9u * 7u);
  });
}

TEST(Halo, blocks_of_uneven_size_fit_along_their_dimension) {
  spmd([](team& team) {
    const rank_grid grid(team, {.ranks = {1, team.size(), 1}});
    // y is cut unevenly: rank r has 2 + r mod 3 rows.
    domain_block block{{0, 0, 0}, {4, 0, 3}};
    const auto rows = team.allgather_value<std::ptrdiff_t>(2 + team.rank() % 3);
    for (int r = 0; r < team.size(); ++r) {
      if (r < team.rank()) block.first[1] += rows[r];
      block.cells[1] += rows[r];
    }
    for (const auto mode : possible_modes(grid)) {
      field<double> u(grid, {4, static_cast<std::size_t>(rows[team.rank()]), 3}, 2);
      halo_exchange halos(grid, {.mode = mode}, u);
      fill_cells(u, block, 5);
      halos.exchange();
      const auto wrong = wrong_cell(u, block, 5, grid, halo_algorithm::standard, 2);
      EXPECT_FALSE(wrong.has_value()) << *wrong;
    }
  });
}

TEST(Halo, blocks_that_do_not_fit_are_refused) {
  spmd([](team& team) {
    if (team.transport_name() != "mpi" || team.size() == 1) return;
    const rank_grid grid(team);
    field<double> u(grid, {4 + static_cast<std::size_t>(team.rank()), 4, 4}, 1);
    for (const auto mode : possible_modes(grid)) {
      if (!is_mpi_mode(mode)) continue;
      try {
        halo_exchange(grid, {.mode = mode}, u);
        ADD_FAILURE() << "no error";
      } catch (const error& e) {
        EXPECT_NE(std::string(e.what()).find("equal extents"), std::string::npos) << e.what();
      }
    }
  });
}

TEST(Halo, ranks_may_run_ahead_of_their_neighbours) {
  spmd([](team& team) {
    const rank_grid grid(team);
    random_stream random(7, static_cast<std::uint64_t>(team.rank()));
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode};
      field<float> u(grid, {6, 3, 3}, 1);
      halo_exchange halos(grid, options, u);
      for (std::uint64_t tag = 1; tag <= 30; ++tag) {
        fill_cells(u, equal_block(grid, u.extents()), tag);
        if (random.below(8) == 0) dawdle();
        halos.start();
        if (random.below(8) == 0) dawdle();
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

TEST(Halo, many_plans_are_in_flight_together) {
  spmd([](team& team) {
    const rank_grid grid(team);
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode};
      std::vector<field<double>> fields;
      for (int i = 0; i < 5; ++i) fields.emplace_back(grid, std::array<std::size_t, 3>{4, 4, 4}, 1);
      std::vector<std::unique_ptr<halo_exchange>> plans;
      for (auto& u : fields) plans.push_back(std::make_unique<halo_exchange>(grid, options, u));
      for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        for (std::size_t i = 0; i < fields.size(); ++i)
          fill_cells(fields[i], equal_block(grid, fields[i].extents()), 10 * tag + i);
        for (auto& plan : plans) plan->start();
        for (std::size_t i = plans.size(); i-- > 0;) plans[i]->wait();  // in another order than they were started
        for (std::size_t i = 0; i < fields.size(); ++i) expect_right(fields[i], 10 * tag + i, grid, options);
      }
    }
  });
}

TEST(Halo, traffic_is_what_the_formula_says) {
  spmd([](team& team) {
    const rank_grid grid(team);
    constexpr std::uint64_t a = 5, b = 6, c = 7, h = 2, fields = 2;
    field<double> u(grid, {a, b, c}, h), v(grid, {a, b, c}, h);
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_exchange halos(grid, {.algorithm = algorithm, .mode = mode}, u, v);
      const auto moved = halos.moved();
      const std::uint64_t faces = 2 * h * (a * b + b * c + c * a), all = (a + 2 * h) * (b + 2 * h) * (c + 2 * h) - a * b * c;
      EXPECT_EQ(moved.payload_bytes, fields * sizeof(double) * (algorithm == halo_algorithm::faces ? faces : all))
          << text_of(algorithm, mode);
      const bool is_staged = algorithm == halo_algorithm::staged || algorithm == halo_algorithm::staged_sequenced;
      const bool is_sequenced = algorithm == halo_algorithm::sequenced || algorithm == halo_algorithm::staged_sequenced;
      std::size_t cut = 0;  // dimensions with several ranks
      for (const int ranks_there : grid.shape()) cut += ranks_there > 1;
      const std::size_t rounds = (is_staged ? cut : std::min<std::size_t>(cut, 1)) * (is_sequenced ? fields : 1);
      EXPECT_TRUE(algorithm == halo_algorithm::hybrid || halos.rounds() == rounds) << halos.rounds() << " not " << rounds;
      EXPECT_LE(moved.wire_bytes, moved.payload_bytes);
      EXPECT_LE(moved.offnode_bytes, moved.wire_bytes);
      if (algorithm == halo_algorithm::hybrid) continue;  // its messages are counted below
      std::uint64_t legs = 0, remote = 0, distant = 0;
      for (const auto& direction : is_staged || algorithm == halo_algorithm::faces ? face_directions(3) : all_directions(3)) {
        const int peer = grid.neighbour(direction);
        bool is_own_halo = false;  // along a dimension with one rank: copied last, not sent
        for (int d = 0; d < 3; ++d) is_own_halo = is_own_halo || (direction.step[d] != 0 && grid.shape()[d] == 1);
        ++legs;
        remote += !is_own_halo;
        distant += !team.nodes().is_local(peer);
      }
      const std::uint64_t times = is_sequenced ? fields : 1;
      EXPECT_TRUE(!is_mpi_mode(mode) || moved.messages == times * legs);
      // Small messages to one neighbour on another node are put together.
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

TEST(Halo, hybrid_sends_at_most_a_message_through_each_face_between_nodes) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {40, 40, 40}, 2);
    const auto standard = halo_exchange(grid, {.algorithm = halo_algorithm::standard}, u).moved();
    const auto hybrid = halo_exchange(grid, {.algorithm = halo_algorithm::hybrid}, u).moved();
    EXPECT_EQ(hybrid.payload_bytes, standard.payload_bytes);
    EXPECT_LE(hybrid.messages, 6u);
    EXPECT_EQ(hybrid.messages > 0, standard.messages > 0);
  });
}

TEST(Halo, stencils_without_corners_or_edges_save_their_messages) {
  spmd([](team& team) {
    const rank_grid grid(team);
    field<double> u(grid, {5, 6, 7}, 2);
    for (const auto& [mode, algorithm] : possible_pairs(grid))
      for (const auto reach : {halo_reach::faces, halo_reach::edges}) {
        const halo_options options{.algorithm = algorithm, .mode = mode, .reach = reach};
        halo_exchange halos(grid, options, u);
        fill_cells(u, equal_block(grid, u.extents()), 4);
        halos.exchange();
        const auto wrong = wrong_cell(u, equal_block(grid, u.extents()), 4, grid, algorithm, 2, reach);
        EXPECT_FALSE(wrong.has_value()) << text_of(algorithm, mode) << ": " << *wrong;
        EXPECT_TRUE(reach != halo_reach::faces || halos.rounds() <= 1u) << halos.rounds();
        if (!is_mpi_mode(mode) || algorithm != halo_algorithm::standard) continue;
        EXPECT_EQ(halos.moved().messages, reach == halo_reach::faces ? 6u : 18u);
      }
  });
}

TEST(Halo, what_lies_beyond_a_border_is_left_alone) {
  spmd([](team& team) {
    const rank_grid grid(team, {.periodic = {false, true, false}});
    const auto block = equal_block(grid, {4, 3, 5});
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      field<double> u(grid, {4, 3, 5}, 2);
      halo_exchange halos(grid, {.algorithm = algorithm, .mode = mode}, u);
      for (int z = -2; z < 7; ++z)
        for (int y = -2; y < 5; ++y)
          for (int x = -2; x < 6; ++x) u(z, y, x) = 1000 + team.rank();  // another border on every rank
      halos.exchange();
      for (int z = -2; z < 7; ++z)
        for (int y = -2; y < 5; ++y)
          for (int x = -2; x < 6; ++x) {
            const bool beyond = block.first[0] + x < 0 || block.first[0] + x >= block.cells[0] || block.first[2] + z < 0 ||
                                block.first[2] + z >= block.cells[2];
            ASSERT_TRUE(!beyond || u(z, y, x) == 1000 + team.rank()) << text_of(algorithm, mode);
          }
    }
  });
}

TEST(Halo, auto_is_one_of_the_others_and_the_same_on_all_ranks) {
  spmd([](team& team) {
    for (const int dimensions : {3, 1}) {
      const rank_grid grid(team, {.dimensions = dimensions});
      for (const auto mode : {halo_mode::direct, halo_mode::channel}) {
        field<double> u(grid, {6, 5, 4}, 2);
        std::vector<float> memory(4000, 5);
        std::array<std::size_t, 3> extents{6, 5, 4};
        for (int d = dimensions; d < 3; ++d) extents[d] = 1;
        field_view<float> v(memory.data() + 2000, extents, {-1, 20, 200}, u.widths());
        const halo_options options{.algorithm = halo_algorithm::automatic, .mode = mode};
        halo_exchange halos(grid, options, u, v);
        EXPECT_NE(halos.algorithm(), halo_algorithm::automatic);
        const int mine = static_cast<int>(halos.algorithm());
        EXPECT_EQ(team.allreduce_value(mine, reduction::min), team.allreduce_value(mine, reduction::max));
        EXPECT_TRUE((team.size() > 1 && dimensions > 1) || halos.algorithm() == halo_algorithm::standard);
        for (const float cell : memory) EXPECT_EQ(cell, 5);  // trials do not touch the fields
        fill_cells(u, equal_block(grid, u.extents()), 3);
        fill_cells(v, equal_block(grid, v.extents()), 4);
        halos.exchange();
        expect_right(u, 3, grid, options);
        expect_right(v, 4, grid, options);
      }
    }
  });
}

TEST(Halo, tasks_pack_as_one_thread_does) {
  spmd([](team& team) {
    const rank_grid grid(team);
    tasks workers({.layer = "threads", .count = 3, .cpus = {}});
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode, .workers = &workers};
      field<double> u(grid, {70, 70, 70}, halo_widths({8, 7, 9}, {7, 8, 9}));
      halo_exchange halos(grid, options, u);
      for (std::uint64_t tag = 1; tag <= 2; ++tag) {
        fill_cells(u, equal_block(grid, u.extents()), tag);
        halos.exchange();
        expect_right(u, tag, grid, options);
      }
    }
  });
}

TEST(Halo, what_makes_no_sense_is_refused_with_the_reason) {
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
    expect({.width = 2}, errc::usage, "room for 0 to 1");
    expect({.width = halo_widths({-1, 0, 0}, {0, 0, 0})}, errc::usage, "-1");
    if (team.transport_name() != "mpi") expect({.mode = halo_mode::waitall}, errc::unsupported, "MPI calls");
    if (grid.shape()[0] % 2 != 0 && grid.shape()[0] > 1 && team.transport_name() == "mpi")
      expect({.mode = halo_mode::redblack}, errc::unsupported, "even");
    EXPECT_THROW(static_cast<void>(halo_mode_from("waital")), error);
    EXPECT_THROW(static_cast<void>(halo_algorithm_from("face")), error);

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

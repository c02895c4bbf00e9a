// Tests every algorithm in every mode on every transport. Each cell must have its expected value.
#include <longshore/exchange/caches_test.hpp>
#include <longshore/halo/halo_test.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/spmd_test.hpp>

namespace longshore {
namespace {

using testing::algorithms;
using testing::expect_right;
using testing::expect_right_exchanges;
using testing::possible_modes;
using testing::possible_pairs;
using testing::spmd;
using testing::text_of;

TEST(Halo, every_cell_is_right_in_every_algorithm_and_mode) {
  spmd([](team& team) {
    int exchanges = 0;
    for (const int dimensions : {3, 2, 1})
      for (const std::array<bool, 3> periodic :
           {std::array{true, true, true}, {false, false, false}, {true, false, true}}) {
        if (team.size() > 4 && dimensions < 3) continue;
        const rank_grid grid(team, {.dimensions = dimensions, .periodic = periodic});
        for (const auto& [mode, algorithm] : possible_pairs(grid)) {
          const halo_options options{.algorithm = algorithm, .mode = mode};
          field<double> u(grid, {5, 4, 6}, 2);
          expect_right_exchanges(3, u, grid, options);
          exchanges += 3;
        }
      }
    EXPECT_GE(exchanges, (team.size() > 4 ? 1 : 3) * 3 * 6 * 3);
  });
}

TEST(Halo, every_cell_is_right_under_every_placement) {
  spmd([](team& team) {
    int exchanges = 0;
    const int nodes = team.nodes().node_count();
    for (const auto placement :
         {grid_placement::cart, grid_placement::automatic, grid_placement::levels})
      for (const std::array<bool, 3> periodic :
           {std::array{true, true, true}, {false, true, false}}) {
        grid_options placed{.periodic = periodic, .placement = placement};
        if (placement == grid_placement::levels) {
          if (team.size() % nodes != 0 || team.nodes().largest_node() != team.size() / nodes)
            continue;
          placed.levels = {{"node", {1, nodes, 1}, x_fastest},
                           {"core", {1, 1, team.size() / nodes}, z_fastest}};
        }
        const rank_grid grid(team, placed);
        for (const auto& [mode, algorithm] : possible_pairs(grid)) {
          const halo_options options{.algorithm = algorithm, .mode = mode};
          field<double> u(grid, {5, 4, 6}, 2);
          expect_right_exchanges(2, u, grid, options);
          exchanges += 2;
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
      expect_right_exchanges(3, u, grid, options);
    }
  });
}

TEST(Halo, widths_may_differ_by_side_and_be_zero) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const std::array<halo_widths, 4> cases = {halo_widths({1, 2, 0}, {2, 0, 3}),
                                              halo_widths({0, 0, 0}, {1, 1, 1}),
                                              halo_widths({3, 3, 3}, {0, 0, 0}), halo_widths(0)};
    for (const auto& [mode, algorithm] : possible_pairs(grid))
      for (const auto& widths : cases) {
        const halo_options options{.width = widths, .algorithm = algorithm, .mode = mode};
        field<float> u(grid, {3, 4, 5}, 3);
        expect_right_exchanges(4, u, grid, options);
      }
  });
}

TEST(Halo, fields_of_several_types_and_widths_share_their_messages) {
  spmd([](team& team) {
    const rank_grid grid(team);
    std::size_t number = 0;
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const testing::assumed_caches caches(team, ++number % 2 == 0);
      const halo_options options{.algorithm = algorithm, .mode = mode};
      field<double> a(grid, {8, 3, 4}, 1);
      field<float> b(grid, {8, 3, 4}, halo_widths({2, 1, 0}, {1, 3, 2}));
      field<std::uint8_t> c(grid, {5, 6, 7}, 3);
      field<std::int64_t> d(grid, {1, 2, 3}, 1);
      halo_exchange halos(grid, options, a, b, c, d);
      for (std::uint64_t tag = 1; tag <= 3; ++tag) {
        fill_cells(a, grid, 10 * tag);
        fill_cells(b, grid, 10 * tag + 1);
        fill_cells(c, grid, 10 * tag + 2);
        fill_cells(d, grid, 10 * tag + 3);
        halos.exchange();
        expect_right(a, 10 * tag, grid, options);
        expect_right(b, 10 * tag + 1, grid, options);
        expect_right(c, 10 * tag + 2, grid, options);
        expect_right(d, 10 * tag + 3, grid, options);
      }
      EXPECT_TRUE(mode == halo_mode::direct ||
                  (halos.moved().messages > 0) == (team.size() > 1 || is_mpi_mode(mode)));
      const auto [copied, read, channels, posted, mpi] = halos.transfers();
      EXPECT_EQ(copied + read + channels + posted + mpi, halos.moved().payload_bytes);
      EXPECT_EQ(mpi > 0, is_mpi_mode(mode));
    }
  });
}

// A plan prepares fields together if they follow each other and are alike on all ranks.
TEST(Halo, fields_may_be_alike_on_some_ranks_only) {
  spmd([](team& team) {
    const rank_grid grid(team);
    const std::array<std::size_t, 3> extents{4, 5, 3};
    std::vector<double> memory(600);
    const std::ptrdiff_t row = 6 + team.rank() % 2;  // rows have a gap on odd ranks
    const field_view<double> with_gaps(memory.data() + 7 * row + 1 + row, extents,
                                       {1, row, 7 * row}, 1);
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_options options{.algorithm = algorithm, .mode = mode};
      const field<double> a(grid, extents, 1), b(grid, extents, 1), c(grid, extents, 1),
          narrow(grid, extents, halo_widths({1, 0, 1}, {1, 1, 0}));
      const field<std::int64_t> d(grid, extents, 1);
      halo_exchange halos(grid, options, a, b, with_gaps, c, d, narrow);
      for (std::uint64_t tag = 1; tag <= 2; ++tag) {
        const auto fill = [&](std::uint64_t number, const auto&... fields) {
          (fill_cells(fields, grid, 10 * tag + number++), ...);
        };
        const auto expect = [&](std::uint64_t number, const auto&... fields) {
          (expect_right(fields, 10 * tag + number++, grid, options), ...);
        };
        fill(0, a, b, with_gaps, c, d, narrow);
        halos.exchange();
        expect(0, a, b, with_gaps, c, d, narrow);
      }
    }
  });
}

TEST(Halo, memory_of_users_may_have_any_strides) {
  spmd([](team& team) {
    const rank_grid grid(team);
    // Neighbours have different layouts: x contiguous with gaps after the rows, z contiguous, and x
    // backwards.
    const std::array<std::size_t, 3> extents{4, 5, 3};
    std::vector<double> memory(6000, 77);
    const std::array<std::array<std::ptrdiff_t, 3>, 3> layouts = {
        {{1, 9, 110}, {130, 11, 1}, {-200, 20, 2}}};
    const auto& strides = layouts[team.rank() % 3];
    field_view<double> u(memory.data() + 2500, extents, strides, 2);
    for (const auto& [mode, algorithm] : possible_pairs(grid)) {
      const halo_options options{.algorithm = algorithm, .mode = mode};
      expect_right_exchanges(2, u, grid, options);
    }
    std::size_t touched = 0;
    for (const double value : memory) touched += value != 77;
    EXPECT_EQ(touched, 8u * 9u * 7u);
  });
}

TEST(Halo, blocks_may_differ_in_size_along_one_dimension) {
  spmd([](team& team) {
    const rank_grid grid(team, {.ranks = {1, team.size(), 1}});
    // Rank r has 2 + r mod 3 rows along y.
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
      const auto wrong = first_wrong_cell(u, block, 5, grid, halo_algorithm::standard, 2);
      EXPECT_FALSE(wrong.has_value()) << *wrong;
    }
  });
}

// What `make_plan` throws on this rank, which must be a usage error.
template <class Make>
std::string refusal_of(const Make& make_plan) {
  try {
    make_plan();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage) << e.what();
    return e.what();
  }
  return "";
}

TEST(Halo, ranks_that_pass_other_arguments_are_refused_on_all_ranks) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    const rank_grid grid(team, {.dimensions = 2});
    const field<double> u(grid, {8, 8, 1}, 1), v(grid, {8, 8, 1}, 1);
    const field<std::int64_t> whole(grid, {8, 8, 1}, 1);
    const bool odd = team.rank() == team.size() - 1;
    const auto expect = [&](const std::string& first, const std::string& other, const auto& make) {
      const std::string text = refusal_of(make);
      EXPECT_NE(text.find("rank 0 passes " + first), std::string::npos) << text;
      EXPECT_NE(text.find(fmt::format("rank {} passes {}", team.size() - 1, other)),
                std::string::npos)
          << text;
    };
    for (const auto mode : possible_modes(grid)) {
      const halo_options all{.mode = mode};
      auto algorithm = all, reach = all, other_mode = all;
      if (odd) {
        algorithm.algorithm = halo_algorithm::staged;
        reach.reach = halo_reach::faces;
        other_mode.mode = mode == halo_mode::direct ? halo_mode::channel : halo_mode::direct;
      }
      expect("algorithm standard", "algorithm staged", [&] { halo_exchange(grid, algorithm, u); });
      expect("reach corners", "reach faces", [&] { halo_exchange(grid, reach, u); });
      expect(fmt::format("mode {}", name_of(mode)), "mode ",
             [&] { halo_exchange(grid, other_mode, u); });
      expect("fields: 1", "fields: 2",
             [&] { odd ? halo_exchange(grid, all, u, v) : halo_exchange(grid, all, u); });
      expect("a field of float64 (8 bytes)", "a field of int64 (8 bytes)",
             [&] { odd ? halo_exchange(grid, all, whole) : halo_exchange(grid, all, u); });
      // The ranks can go on.
      halo_exchange right(grid, all, u);
      right.exchange();
    }
  });
}

TEST(Halo, blocks_that_do_not_fit_together_are_refused_with_their_extents) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    // All neighbours lie along z, and each has one more cell along x than the rank before.
    const rank_grid grid(team, {.ranks = {1, 1, team.size()}, .periodic = {true, true, true}});
    const std::array<std::size_t, 3> extents{4 + static_cast<std::size_t>(team.rank()), 4, 4};
    std::vector<double> memory(36 * (extents[0] + 2));
    const auto row = static_cast<std::ptrdiff_t>(extents[0] + 2);
    const field_view<double> own(memory.data() + 7 * row + 1, extents, {1, row, 6 * row}, 1);
    const field<double> shareable(grid, extents, 1);
    for (const auto mode : possible_modes(grid))
      for (const field_view<double>& u : {own, static_cast<const field_view<double>&>(shareable)}) {
        try {
          halo_exchange(grid, {.mode = mode}, u);
          ADD_FAILURE() << "no error in mode " << name_of(mode);
        } catch (const error& e) {
          const std::string text = e.what();
          EXPECT_EQ(e.code(), errc::usage) << text;
          EXPECT_NE(text.find("need equal extents along the others"), std::string::npos) << text;
          EXPECT_NE(text.find("do not fit those of rank 0"), std::string::npos) << text;
          EXPECT_NE(text.find("expects 4 x 4 x 1"), std::string::npos) << text;
        }
      }
  });
}

}  // namespace
}  // namespace longshore

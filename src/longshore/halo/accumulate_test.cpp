// Tests sums over copies of cells, fields of vertices, and parts of plans, against a serial oracle:
// each rank computes the whole domain itself.
#include <longshore/exchange/caches_test.hpp>
#include <longshore/halo/halo_test.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <bit>
#include <cmath>
#include <map>
#include <span>

namespace longshore {
namespace {

using testing::possible_modes;
using testing::spmd;

using triple = std::array<std::ptrdiff_t, 3>;

// The blocks of a field that shares `shared` layers: block c along a dimension owns its own cells.
// At a border, the first block also owns the first shared layer.
struct oracle {
  // The place in the domain of cell i of block c along dimension d. Places wrap around.
  [[nodiscard]] std::ptrdiff_t place(int d, int c, std::ptrdiff_t i) const {
    const std::ptrdiff_t own = static_cast<std::ptrdiff_t>(extents[d]) - shared[d];
    const std::ptrdiff_t at = c * own + i, all = own * grid.shape()[d];
    return grid.periodic()[d] ? (at % all + all) % all : at;
  }
  // Calls f(cell, place) for each cell of a block that is interior or that is a filled halo cell.
  template <class F>
  void for_each_cell(const std::array<int, 3>& block, const F& f) const {
    std::array<std::ptrdiff_t, 3> begin, end;
    for (int d = 0; d < 3; ++d) {
      const bool has_low = block[d] > 0 || grid.periodic()[d];
      const bool has_high = block[d] + 1 < grid.shape()[d] || grid.periodic()[d];
      begin[d] = has_low && d < grid.dimensions() ? -widths.low[d] : 0;
      end[d] = static_cast<std::ptrdiff_t>(extents[d]) +
               (has_high && d < grid.dimensions() ? widths.high[d] : 0);
    }
    for (std::ptrdiff_t z = begin[2]; z < end[2]; ++z)
      for (std::ptrdiff_t y = begin[1]; y < end[1]; ++y)
        for (std::ptrdiff_t x = begin[0]; x < end[0]; ++x) {
          const triple cell{x, y, z};
          int steps = 0;
          for (int d = 0; d < 3; ++d)
            steps += cell[d] < 0 || cell[d] >= static_cast<std::ptrdiff_t>(extents[d]);
          if (steps > static_cast<int>(reach)) continue;
          f(cell, triple{place(0, block[0], x), place(1, block[1], y), place(2, block[2], z)});
        }
  }

  const rank_grid& grid;
  std::array<std::size_t, 3> extents;
  halo_widths widths;
  std::array<int, 3> shared;
  halo_reach reach;
};

// A value of a cell of a rank. The last bits of a sum of such values depend on the order.
double value_of(int rank, const triple& cell) {
  const auto bits = mix_bits(mix_bits(static_cast<std::uint64_t>(rank + 1)) ^
                             static_cast<std::uint64_t>(cell[0] + 100 * cell[1] + 10000 * cell[2]));
  return 1.0 / (1.0 + static_cast<double>(bits % 1000));
}

std::array<int, 3> coordinates_of(const rank_grid& grid, int rank) {
  for (int z = 0; z < grid.shape()[2]; ++z)
    for (int y = 0; y < grid.shape()[1]; ++y)
      for (int x = 0; x < grid.shape()[0]; ++x)
        if (grid.rank_at({x, y, z}) == rank) return {x, y, z};
  return {};
}

template <class T>
void fill(const field_view<T>& u, const oracle& expected, int rank) {
  expected.for_each_cell(coordinates_of(expected.grid, rank),
                         [&](const triple& cell, const triple&) {
                           u(cell[2], cell[1], cell[0]) = static_cast<T>(value_of(rank, cell));
                         });
}

// The exact sums of all copies of each place.
std::map<triple, long double> sums_of(const oracle& expected) {
  std::map<triple, long double> sums;
  for (int rank = 0; rank < expected.grid.ranks().size(); ++rank)
    expected.for_each_cell(
        coordinates_of(expected.grid, rank),
        [&](const triple& cell, const triple& place) { sums[place] += value_of(rank, cell); });
  return sums;
}

struct one_case {
  int dimensions;
  std::array<bool, 3> periodic;
  halo_widths widths;
  std::array<int, 3> shared;
  halo_reach reach = halo_reach::corners;
};

const std::vector<one_case> cases = {
    {3, {true, true, true}, 1, {0, 0, 0}},
    {3, {true, false, true}, 2, {0, 0, 0}, halo_reach::edges},
    {3, {false, false, false}, 0, {1, 1, 1}},
    {3, {true, true, true}, 1, {1, 1, 1}},
    {3, {false, true, false}, halo_widths({1, 0, 2}, {2, 1, 0}), {1, 0, 1}, halo_reach::faces},
    {2, {true, false, true}, 2, {1, 1, 0}},
    {1, {true, true, true}, 1, {2, 0, 0}}};

std::array<std::size_t, 3> extents_of(const one_case& c) {
  std::array<std::size_t, 3> extents{7, 6, 8};
  for (int d = c.dimensions; d < 3; ++d) extents[d] = 1;
  return extents;
}

TEST(HaloAccumulate, assembled_cells_are_the_sums_of_all_copies_with_equal_bits_everywhere) {
  spmd([](team& team) {
    for (const auto& c : cases) {
      const rank_grid grid(team, {.dimensions = c.dimensions, .periodic = c.periodic});
      const oracle expected{grid, extents_of(c), c.widths, c.shared, c.reach};
      const auto sums = sums_of(expected);
      std::vector<std::uint64_t> bits_of_first_mode;
      auto modes = possible_modes(grid);
      modes.push_back(halo_mode::direct);  // again, with far caches
      for (std::size_t i = 0; i < modes.size(); ++i) {
        const auto mode = modes[i];
        const testing::assumed_caches caches(team, i + 1 == modes.size());
        field<double> u(grid, extents_of(c), c.widths, c.shared);
        halo_exchange halos(grid, {.mode = mode, .reach = c.reach}, u);
        std::vector<std::uint64_t> bits;
        for (int repetition = 0; repetition < 2; ++repetition) {
          fill(u, expected, team.rank());
          halos.assemble(op::add{});
          bits.clear();
          int wrong = 0;
          expected.for_each_cell(grid.coordinates(), [&](const triple& cell, const triple& place) {
            const double value = u(cell[2], cell[1], cell[0]);
            wrong += std::abs(value - static_cast<double>(sums.at(place))) > 1e-12 * value;
            bits.push_back(std::bit_cast<std::uint64_t>(value));
          });
          EXPECT_EQ(wrong, 0) << name_of(mode) << ", dimensions " << c.dimensions;
        }
        // The order of a sum does not depend on the mode, nor on the caches.
        if (bits_of_first_mode.empty()) bits_of_first_mode = bits;
        EXPECT_EQ(bits, bits_of_first_mode) << name_of(mode);
      }
      // All ranks have the same bits of a place.
      std::map<triple, std::size_t> number;
      for (const auto& [place, sum] : sums) number.emplace(place, number.size());
      field<double> u(grid, extents_of(c), c.widths, c.shared);
      halo_exchange halos(grid, {.reach = c.reach}, u);
      fill(u, expected, team.rank());
      halos.assemble(op::add{});
      std::vector<double> low(sums.size(), 1e300), high(sums.size(), 1e300);
      expected.for_each_cell(grid.coordinates(), [&](const triple& cell, const triple& place) {
        const double value = u(cell[2], cell[1], cell[0]);
        low[number.at(place)] = value, high[number.at(place)] = -value;
      });
      team.allreduce(std::span<double>(low), reduction::min);
      team.allreduce(std::span<double>(high), reduction::min);
      for (std::size_t i = 0; i < low.size(); ++i) EXPECT_EQ(low[i], -high[i]);
    }
  });
}

TEST(HaloAccumulate, owners_get_the_sum_and_copies_keep_their_values) {
  spmd([](team& team) {
    for (const auto& c : cases) {
      const rank_grid grid(team, {.dimensions = c.dimensions, .periodic = c.periodic});
      const oracle expected{grid, extents_of(c), c.widths, c.shared, c.reach};
      const auto sums = sums_of(expected);
      for (const auto mode : {halo_mode::direct, halo_mode::channel}) {
        field<double> u(grid, extents_of(c), c.widths, c.shared);
        halo_exchange halos(grid, {.mode = mode, .reach = c.reach}, u);
        fill(u, expected, team.rank());
        halos.accumulate(op::add{});
        int wrong = 0;
        expected.for_each_cell(grid.coordinates(), [&](const triple& cell, const triple& place) {
          bool is_own = true;
          for (int d = 0; d < 3; ++d) {
            const bool has_low = grid.coordinates()[d] > 0 || grid.periodic()[d];
            is_own = is_own && cell[d] >= (has_low && d < c.dimensions ? c.shared[d] : 0) &&
                     cell[d] < static_cast<std::ptrdiff_t>(u.extents()[d]);
          }
          const double value = u(cell[2], cell[1], cell[0]);
          const double right =
              is_own ? static_cast<double>(sums.at(place)) : value_of(team.rank(), cell);
          wrong += std::abs(value - right) > (is_own ? 1e-12 * right : 0);
        });
        EXPECT_EQ(wrong, 0) << name_of(mode);
      }
    }
  });
}

TEST(HaloAccumulate, an_exchange_fills_what_lies_beyond_shared_layers_and_leaves_them_alone) {
  spmd([](team& team) {
    for (const auto& c : cases) {
      const rank_grid grid(team, {.dimensions = c.dimensions, .periodic = c.periodic});
      const oracle expected{grid, extents_of(c), c.widths, c.shared, c.reach};
      const auto value_at = [](const triple& place) {
        return static_cast<double>(place[0] + 100 * place[1] + 10000 * place[2]);
      };
      const testing::assumed_caches caches(team, &c == &cases.front() || &c == &cases[3]);
      for (const auto& [mode, algorithm] : testing::possible_pairs(grid)) {
        if (filled_by(algorithm, c.reach) != c.reach) continue;
        field<double> u(grid, extents_of(c), c.widths, c.shared);
        halo_exchange halos(grid, {.algorithm = algorithm, .mode = mode, .reach = c.reach}, u);
        const auto is_inside = [&](const triple& cell) {
          bool inside = true;
          for (int d = 0; d < 3; ++d)
            inside =
                inside && cell[d] >= 0 && cell[d] < static_cast<std::ptrdiff_t>(u.extents()[d]);
          return inside;
        };
        expected.for_each_cell(grid.coordinates(), [&](const triple& cell, const triple& place) {
          u(cell[2], cell[1], cell[0]) = is_inside(cell) ? value_at(place) : -1;
        });
        // A shared layer that differs between blocks stays as it is.
        const bool has_own_corner = c.shared[0] > 0 && u.extents()[1] > 4;
        if (has_own_corner) u(0, 3, 0) = 5e7 + team.rank();
        halos.exchange();
        int wrong = 0;
        expected.for_each_cell(grid.coordinates(), [&](const triple& cell, const triple& place) {
          const double value = u(cell[2], cell[1], cell[0]);
          if (has_own_corner && value >= 5e7) return;
          wrong += value != value_at(place);
        });
        EXPECT_EQ(wrong, 0) << testing::text_of(algorithm, mode);
        if (has_own_corner) {
          EXPECT_EQ(u(0, 3, 0), 5e7 + team.rank());
        }
      }
    }
  });
}

TEST(HaloAccumulate, a_part_takes_some_fields_and_a_smaller_width) {
  spmd([](team& team) {
    const rank_grid grid(team);
    for (const auto mode : possible_modes(grid)) {
      const halo_options options{.mode = mode};
      field<double> u(grid, {5, 4, 6}, 2);
      field<float> v(grid, {5, 4, 6}, halo_widths({2, 1, 0}, {1, 2, 2}));
      field<std::int32_t> w(grid, {6, 4, 5}, 1);
      halo_exchange halos(grid, options, u, v, w);
      const auto fill_all = [&](std::uint64_t tag) {
        fill_cells(u, grid, tag);
        fill_cells(v, grid, tag + 1);
        fill_cells(w, grid, tag + 2);
      };
      const auto expect_widths = [&](const auto& field, std::uint64_t tag,
                                     const halo_widths& width) {
        const auto wrong = first_wrong_cell(field, equal_block(grid, field.extents()), tag, grid,
                                            halo_algorithm::standard, width);
        EXPECT_FALSE(wrong.has_value()) << name_of(mode) << ": " << *wrong;
      };
      for (std::uint64_t tag = 1; tag < 3; ++tag) {
        fill_all(10 * tag);
        halos.exchange({.fields = {2, 1}, .width = 1});
        expect_widths(u, 10 * tag, 0);
        expect_widths(v, 10 * tag + 1, halo_widths({1, 1, 0}, {1, 1, 1}));
        expect_widths(w, 10 * tag + 2, 1);
        fill_all(10 * tag);
        halos.start({.fields = {0}});
        halos.wait();
        expect_widths(u, 10 * tag, 2);
        expect_widths(v, 10 * tag + 1, 0);
        fill_all(10 * tag);
        halos.exchange();
        expect_widths(u, 10 * tag, 2);
        expect_widths(w, 10 * tag + 2, 1);
      }
      EXPECT_THROW(halos.exchange({.fields = {3}}), error);
    }
  });
}

TEST(HaloAccumulate, every_operation_and_functions_of_the_program_combine) {
  spmd([](team& team) {
    const rank_grid grid(team, {.dimensions = 1, .periodic = {false, false, false}});
    field<std::int64_t> u(grid, {4, 1, 1}, halo_widths({1, 0, 0}, {1, 0, 0}));
    halo_exchange halos(grid, {}, u);
    const auto run = [&](const combine_op& op) {
      for (std::ptrdiff_t x = -1; x <= 4; ++x) u(x) = 10 + x;
      u(-1) = 100 + team.rank(), u(4) = -100 - team.rank();
      halos.accumulate(op);
    };
    const bool has_low = team.rank() > 0, has_high = team.rank() + 1 < team.size();
    run(op::max{});
    EXPECT_EQ(u(3), has_high ? 101 + team.rank() : 13);
    EXPECT_EQ(u(0), 10);
    run(op::min{});
    EXPECT_EQ(u(0), has_low ? -99 - team.rank() : 10);
    run(combine_op::of<std::int64_t>(
        [](std::int64_t& cell, const std::int64_t& copy) { cell = 2 * cell - copy; }));
    EXPECT_EQ(u(0), has_low ? 20 + 99 + team.rank() : 10);
    EXPECT_EQ(u(3), has_high ? 26 - 101 - team.rank() : 13);
    EXPECT_THROW(run(combine_op::of<double>([](double&, const double&) {})), error);
    run(op::max{});  // the plan can go on
    EXPECT_EQ(u(3), has_high ? 101 + team.rank() : 13);
  });
}

TEST(HaloAccumulate, blocks_that_are_too_thin_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const rank_grid grid(team, {.dimensions = 1});
    const std::size_t cells = team.rank() == team.size() - 1 ? 3 : 6;
    field<double> u(grid, {cells, 1, 1}, halo_widths({2, 0, 0}, {2, 0, 0}), {1, 0, 0});
    halo_exchange halos(grid, {}, u);
    halos.exchange();
    try {
      halos.accumulate(op::add{});
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("has 3 cells along x"), std::string::npos) << text;
      EXPECT_NE(text.find("so a block needs 4"), std::string::npos) << text;
    }
    halos.exchange();
  });
}

TEST(HaloAccumulate, sides_at_borders_need_no_halo) {
  spmd([](team& team) {
    const rank_grid grid(team, {.dimensions = 1, .periodic = {false, false, false}});
    const bool has_low = team.rank() > 0, has_high = team.rank() + 1 < team.size();
    const halo_widths widths({has_low ? 2 : 0, 0, 0}, {has_high ? 2 : 0, 0, 0});
    field<double> u(grid, {5, 1, 1}, widths);
    halo_exchange halos(grid, {}, u);
    for (std::ptrdiff_t x = 0; x < 5; ++x) u(x) = static_cast<double>(5 * team.rank() + x);
    halos.exchange();
    EXPECT_EQ(u(has_low ? -2 : 0), 5 * team.rank() - (has_low ? 2 : 0));
    EXPECT_EQ(u(has_high ? 6 : 4), 5 * team.rank() + (has_high ? 6 : 4));
  });
}

}  // namespace
}  // namespace longshore

// Shared by the tests of halo exchanges: the algorithms and modes under test, and the check of a
// field.
#pragma once

#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/halo_exchange.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace longshore::testing {

// The modes that are possible with this transport and grid. On more than two ranks, one-sided modes
// are included only if `with_slow`, because making windows is slow if ranks outnumber cores.
inline std::vector<halo_mode> possible_modes(const rank_grid& grid, bool with_slow = false) {
  std::vector<halo_mode> modes;
  for (const auto mode : values_of<halo_mode>()) {
    if (mode >= halo_mode::rma_fence && grid.ranks().size() > 2 && !with_slow) continue;
    if (!why_not(mode, grid.ranks().transport_name(), grid.shape(), grid.wraps()))
      modes.push_back(mode);
  }
  return modes;
}

// All algorithms except `automatic`, which halo_plan_test.cpp tests.
inline constexpr std::array<halo_algorithm, 6> algorithms = {
    halo_algorithm::standard, halo_algorithm::staged,           halo_algorithm::sequenced,
    halo_algorithm::hybrid,   halo_algorithm::staged_sequenced, halo_algorithm::faces};

// Whether an algorithm is tested in a mode. On more than two ranks, whose launches take long, only
// those pairs are tested that depend on the number of ranks.
inline bool is_tested(const team& team, halo_algorithm algorithm, halo_mode mode) {
  if (!is_mpi_mode(mode) || team.size() <= 2) return true;
  const bool is_field_by_field =
      algorithm == halo_algorithm::sequenced || algorithm == halo_algorithm::staged_sequenced;
  if (is_field_by_field) return false;
  return team.size() <= 4 || algorithm == halo_algorithm::standard ||
         algorithm == halo_algorithm::staged;
}

inline std::vector<std::pair<halo_mode, halo_algorithm>> possible_pairs(const rank_grid& grid) {
  std::vector<std::pair<halo_mode, halo_algorithm>> pairs;
  for (const auto mode : possible_modes(grid))
    for (const auto algorithm : algorithms)
      if (is_tested(grid.ranks(), algorithm, mode)) pairs.emplace_back(mode, algorithm);
  return pairs;
}

inline std::string text_of(halo_algorithm algorithm, halo_mode mode) {
  return fmt::format("{} {}", name_of(algorithm), name_of(mode));
}

template <class T>
void expect_right(const field_view<T>& field, std::uint64_t tag, const rank_grid& grid,
                  const halo_options& options) {
  const auto wrong =
      first_wrong_cell(field, equal_block(grid, field.extents()), tag, grid, options.algorithm,
                       options.width.value_or(field.widths()), options.reach);
  EXPECT_FALSE(wrong.has_value()) << text_of(options.algorithm, options.mode) << ": " << *wrong;
}

// Makes a plan and `exchanges` exchanges, after each of which all cells must be right.
template <class T>
void expect_right_exchanges(int exchanges, const field_view<T>& field, const rank_grid& grid,
                            const halo_options& options) {
  halo_exchange halos(grid, options, field);
  for (int tag = 1; tag <= exchanges; ++tag) {
    fill_cells(field, grid, static_cast<std::uint64_t>(tag));
    halos.exchange();
    expect_right(field, static_cast<std::uint64_t>(tag), grid, options);
  }
}

}  // namespace longshore::testing

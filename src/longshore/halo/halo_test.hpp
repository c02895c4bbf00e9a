// What the tests of halo exchanges share: which algorithms and modes are tried, and the check of a
// field.
#pragma once

#include <longshore/halo/cells.hpp>
#include <longshore/halo/halo_exchange.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace longshore::testing {

// The modes that this transport can do on this grid. One-sided ones are tried by few ranks, and by
// more in a test of their own: windows take long to make where ranks outnumber cores.
inline std::vector<halo_mode> possible_modes(const rank_grid& grid, bool also_slow = false) {
  std::vector<halo_mode> modes;
  auto periodic = grid.periodic();
  for (int d = grid.dimensions(); d < 3; ++d) periodic[d] = false;
  for (std::size_t i = 0; i < halo_mode_names().size(); ++i) {
    const auto mode = static_cast<halo_mode>(i);
    if (mode >= halo_mode::rma_fence && grid.ranks().size() > 2 && !also_slow) continue;
    if (!why_not(mode, grid.ranks().transport_name(), grid.shape(), periodic))
      modes.push_back(mode);
  }
  return modes;
}

// Of automatic, which makes and tries a plan of each, what it may become is here; itself it is
// tried with each reach (halo_plan_test).
inline constexpr std::array<halo_algorithm, 6> algorithms = {
    halo_algorithm::standard, halo_algorithm::staged,           halo_algorithm::sequenced,
    halo_algorithm::hybrid,   halo_algorithm::staged_sequenced, halo_algorithm::faces};

// Which pairs are tried here: all by few ranks; by many, whose launches take long, what depends on
// their number.
inline bool is_tried(const team& team, halo_algorithm algorithm, halo_mode mode) {
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
      if (is_tried(grid.ranks(), algorithm, mode)) pairs.emplace_back(mode, algorithm);
  return pairs;
}

inline std::string text_of(halo_algorithm algorithm, halo_mode mode) {
  return fmt::format("{} {}", name_of(algorithm), name_of(mode));
}

template <class T>
void expect_right(const field_view<T>& field, std::uint64_t tag, const rank_grid& grid,
                  const halo_options& options) {
  const auto wrong =
      wrong_cell(field, equal_block(grid, field.extents()), tag, grid, options.algorithm,
                 options.width.value_or(field.widths()), options.reach);
  EXPECT_FALSE(wrong.has_value()) << text_of(options.algorithm, options.mode) << ": " << *wrong;
}

}  // namespace longshore::testing

// What all plans of a grid compare between ranks.
#pragma once

#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <fmt/ranges.h>

namespace longshore::detail {

/// The arguments of a plan on a grid: its shape and its periods, to which the plan adds its own.
[[nodiscard]] inline common_arguments grid_arguments(const rank_grid& grid) {
  common_arguments same;
  same.add("a grid of", fmt::format("{}", fmt::join(grid.shape(), " x ")))
      .add("a periodic grid along", fmt::format("{:d}", fmt::join(grid.wraps(), " x ")));
  return same;
}

}  // namespace longshore::detail

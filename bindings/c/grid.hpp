// Handles for grids that are made outside of halo.cpp.
#pragma once

#include "handles.hpp"

#include <longshore/halo/rank_grid.hpp>

struct longshore_grid;

namespace longshore::bindings {

/// The handle of a new grid of the team, which owns the grid.
[[nodiscard]] longshore_grid* keep_grid(longshore_team& team, rank_grid grid);

}  // namespace longshore::bindings

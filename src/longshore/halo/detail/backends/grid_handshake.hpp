// The handshake of the neighbours of a grid.
#pragma once

#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/detail/neighbour_handshake.hpp>

#include <memory>

namespace longshore::detail {

/// Returns the handshake with the neighbours at `place`. The grid, its copies and its plans share
/// the handshake. The first call for a place is collective. The destruction of the last owner is
/// collective, too.
[[nodiscard]] const std::shared_ptr<neighbour_handshake>& handshake_of(
    const rank_grid& grid, neighbour_place place = neighbour_place::on_node);

}  // namespace longshore::detail

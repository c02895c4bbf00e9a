// The handshake of the neighbours of a grid.
#pragma once

#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/detail/neighbour_handshake.hpp>

#include <memory>

namespace longshore::detail {

/// The handshake of a grid's neighbours on the node, or of those on other nodes, which the grid, its
/// copies and its plans share. The first call for a place is collective, and so is the destruction
/// of the last of these owners.
[[nodiscard]] const std::shared_ptr<neighbour_handshake>& handshake_of(
    const rank_grid& grid, neighbour_place place = neighbour_place::on_node);

}  // namespace longshore::detail

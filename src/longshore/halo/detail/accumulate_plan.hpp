// The plan that combines halo cells into the cells of their owners, and copies owners' cells to
// halo cells.
#pragma once

#include <longshore/exchange/detail/copy_links.hpp>
#include <longshore/exchange/detail/exchange_plan.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>
#include <longshore/halo/mode.hpp>

#include <memory>
#include <span>

namespace longshore::detail {

/// Collective. Each cell of a field has one owner: the block of which it is an interior cell. Of
/// blocks that share a cell, the lowest is the owner. All other blocks have copies. The program
/// `accumulate` (copy_links.hpp) combines the copies into the owner's cell, in the order of the
/// ranks that have them; the copies of one rank in the order of the sides of its block. The program
/// `update` gives the owner's value to all copies. Each pair of neighbours has at most one message.
/// All ranks throw errc::usage if a block is too thin: the copies that its neighbours have must be
/// its own cells.
[[nodiscard]] std::unique_ptr<exchange_plan> make_accumulate_plan(
    const rank_grid& grid, std::span<const exchanged_field> fields, halo_reach reach,
    halo_mode mode);

}  // namespace longshore::detail

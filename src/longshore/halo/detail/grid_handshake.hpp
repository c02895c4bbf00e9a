// What the neighbours of a grid use to agree on plans.
#pragma once

#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <memory>

namespace longshore::detail {

/// Returns the shape and periods of a grid, for all ranks to compare. A plan adds its arguments.
[[nodiscard]] common_arguments grid_arguments(const rank_grid& grid);

/// Returns the messenger to all neighbours of this rank. The grid, its copies and its plans share it.
/// The first call is collective. The destruction of the last owner is collective, too.
[[nodiscard]] const std::shared_ptr<messenger>& messenger_of(const rank_grid& grid);

}  // namespace longshore::detail

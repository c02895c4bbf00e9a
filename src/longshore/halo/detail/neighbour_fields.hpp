// What a rank knows of the fields of its neighbours in the grid.
#pragma once

#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// The fields of a rank and of its neighbours, by rank, without addresses.
using fields_by_rank = std::map<int, std::vector<exchanged_field>>;

/// Collective: one exchange of messages of some 130 bytes per field with each neighbour.
[[nodiscard]] fields_by_rank learn_fields_of_neighbours(team& ranks, messenger& neighbours,
                                                        std::span<const exchanged_field> fields);

/// Throws errc::usage if a neighbour has other widths on a side on which both have neighbours. Also
/// throws if this block has fewer cells than the neighbour's halo and the shared layers together.
/// If `combines`, shared layers count twice, because the block on the low side owns those there.
void check_widths(const rank_grid& grid, std::span<const exchanged_field> fields,
                  const fields_by_rank& known, bool combines);

}  // namespace longshore::detail

// What a rank knows of the fields of its neighbours in the grid.
#pragma once

#include <longshore/exchange/detail/agreement/plan_arguments.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Local on fewer than 64 ranks, else collective. Returns the messenger to all neighbours of this
/// rank in the grid.
[[nodiscard]] std::shared_ptr<messenger> messenger_of(const rank_grid& grid);

/// The fields of a rank and of its neighbours, by rank. The addresses of the neighbours' fields are
/// null.
using fields_by_rank = std::map<int, std::vector<exchanged_field>>;

/// Collective: one exchange of messages of some 130 bytes per field with each neighbour. The ranks
/// agree on `arguments` before.
[[nodiscard]] fields_by_rank learn_fields_of_neighbours(team& ranks, messenger& neighbours,
                                                        std::span<const exchanged_field> fields,
                                                        const plan_arguments& arguments);

}  // namespace longshore::detail

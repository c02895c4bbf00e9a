// What a rank knows of the fields of its neighbours in the grid.
#pragma once

#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// The fields of a rank and of its neighbours, by rank, without addresses.
using fields_by_rank = std::map<int, std::vector<exchanged_field>>;

struct learned_fields {
  fields_by_rank of_rank;
  /// The numbers of the fields that begin a group, in ascending order. On each rank of the team, the
  /// fields of a group differ in their addresses only, and all of them are shareable or none.
  std::vector<std::size_t> groups;
};

/// Collective: one exchange of messages with each neighbour, of some 140 bytes for each field that is
/// not like the field before.
[[nodiscard]] learned_fields learn_fields_of_neighbours(team& ranks, messenger& neighbours,
                                                        std::span<const exchanged_field> fields);

/// Returns the first field of each group, which stands for the group.
[[nodiscard]] std::vector<exchanged_field> first_of_groups(std::span<const exchanged_field> fields,
                                                           std::span<const std::size_t> groups);

/// Throws errc::usage if a neighbour has other widths on a side on which both have neighbours. Also
/// throws if this block has fewer cells than the neighbour's halo and the shared layers together.
/// If `combines`, shared layers count twice, because the block on the low side owns those there.
void check_widths(const rank_grid& grid, std::span<const exchanged_field> fields,
                  const fields_by_rank& known, bool combines);

}  // namespace longshore::detail

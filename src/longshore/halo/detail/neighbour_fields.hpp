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
  /// For each field: 1 if it begins a group on this rank, and 0 if it is like the field before. The
  /// fields of a group differ in their addresses only, and all of them are shareable or none.
  agreed_numbers begins_group;
  bool are_groups_equal = true;  ///< whether all ranks have the same groups
};

/// Collective: one exchange of messages with each neighbour, of some 140 bytes for each field that is
/// not like the field before. Replaces `numbers` by the largest of all ranks.
[[nodiscard]] learned_fields learn_fields_of_neighbours(team& ranks, messenger& neighbours,
                                                        std::span<const exchanged_field> fields,
                                                        std::span<std::int64_t> numbers = {});

/// Collective if the groups of ranks differ. Returns the first field of each group, which stands for the
/// group. On each rank, a group then holds fields that are alike on all ranks. REQUIRES: all ranks
/// have the same number of fields.
[[nodiscard]] std::vector<exchanged_field> first_of_groups(team& ranks,
                                                           std::span<const exchanged_field> fields,
                                                           learned_fields& known);

/// Throws errc::usage if a neighbour has other widths on a side on which both have neighbours. Also
/// throws if this block has fewer cells than the neighbour's halo and the shared layers together.
/// If `combines`, shared layers count twice, because the block on the low side owns those there.
void check_widths(const rank_grid& grid, std::span<const exchanged_field> fields,
                  const fields_by_rank& known, bool combines);

}  // namespace longshore::detail

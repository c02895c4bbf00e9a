// Plans the algorithms sequenced and staged-sequenced: plans each field alone, and joins the rounds
// of all fields into one list.
#include <longshore/halo/detail/algorithms/sequenced.hpp>

namespace longshore::detail {

std::vector<halo_round> sequenced_rounds(const rank_grid& grid,
                                         std::span<const exchanged_field> fields, halo_reach reach,
                                         const rounds_planner& plan_one_field) {
  std::vector<halo_round> rounds;
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (auto& round : plan_one_field(grid, fields.subspan(i, 1), reach))
      rounds.push_back(std::move(round));
  return rounds;
}

}  // namespace longshore::detail

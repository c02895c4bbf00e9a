// Plans the algorithms standard, faces, staged, sequenced and staged-sequenced.
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>

#include <longshore/core/error.hpp>

#include <cassert>

namespace longshore::detail {

// Algorithms standard and faces: one message to each neighbour that the stencil reaches, with the
// cells of all fields. Algorithm faces sends messages through faces only, for stencils that read no
// edges or corners.
//
// Cost per rank for d dimensions, blocks of a x b x c cells and h halo cells on all sides: 3^d - 1
// messages (26; 18 without corners) in 1 round, and (a+2h)(b+2h)(c+2h) - abc cells. Through faces
// only: 2d messages (6) and 2h (ab + bc + ca) cells.
std::vector<halo_round> standard_rounds(const plan_fields& fields, halo_reach reach) {
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(fields.grid.dimensions()))
    if (direction.step_count() <= static_cast<int>(reach)) directions.push_back(direction);
  return {make_round(fields, directions)};
}

namespace {

// Algorithm standard for modes that copy the messages of a rank to itself. The first round sends
// 3^k - 1 messages, where k is the number of dimensions with several ranks. Each later round fills
// the halo along a dimension with a single rank: the rank copies its own cells, and halo that it
// received before.
std::vector<halo_round> standard_rounds_copied_last(const plan_fields& fields, halo_reach reach) {
  // The copies of later rounds include halo that was received before, and so would fill corners.
  // But cells that the stencil does not read must stay untouched.
  if (reach != halo_reach::corners) return standard_rounds(fields, reach);
  std::array<bool, 3> has_one_rank{}, filled{};
  for (int d = 0; d < fields.grid.dimensions(); ++d) {
    has_one_rank[d] = fields.grid.shape()[d] == 1;
    filled[d] = !has_one_rank[d];
  }
  std::vector<halo_direction> directions;
  for (const auto& direction : all_directions(fields.grid.dimensions())) {
    bool leaves_rank = true;
    for (int d = 0; d < 3; ++d)
      leaves_rank = leaves_rank && (direction.step[d] == 0 || !has_one_rank[d]);
    if (leaves_rank) directions.push_back(direction);
  }
  std::vector<halo_round> rounds = {make_round(fields, directions)};
  // The rows along x are the shortest. They are copied first, without the halo along y and z. Later
  // copies take whole rows or planes.
  for (int d = 0; d < fields.grid.dimensions(); ++d) {
    if (!has_one_rank[d]) continue;
    rounds.push_back(make_round(fields, directions_along(d), filled));
    filled[d] = true;
  }
  return rounds;
}

// Algorithm staged: exchanges one dimension after another. Each message includes the halo that was
// received along earlier dimensions. So edges and corners travel through faces, in two or three
// steps. Dimensions with a single rank come last. Every rank copies their halo itself, and no
// message between ranks carries it.
//
// Cost per rank for d dimensions, blocks of a x b x c cells and h halo cells on all sides: 2d
// messages (6) in d dependent rounds, and 2h [bc + (a+2h) c + (a+2h)(b+2h)] = (a+2h)(b+2h)(c+2h) -
// abc cells, as many as algorithm standard. If the stencil reads no edges, algorithm faces is used,
// because a second step is not needed.
std::vector<halo_round> staged_rounds(const plan_fields& fields, halo_reach reach) {
  if (reach == halo_reach::faces) return standard_rounds(fields, reach);
  std::vector<halo_round> rounds;
  std::array<bool, 3> filled{};
  for (const bool has_peers : {true, false})
    for (int d = 0; d < fields.grid.dimensions(); ++d) {
      if ((fields.grid.shape()[d] > 1) != has_peers) continue;
      rounds.push_back(make_round(fields, directions_along(d), filled));
      filled[d] = true;
    }
  return rounds;
}

using rounds_planner = std::vector<halo_round> (*)(const plan_fields& fields, halo_reach reach);

// Algorithms sequenced and staged-sequenced: exchange one field after another, with the messages of
// algorithm standard or staged, as in programs that call an exchange for each array.
//
// Cost per rank: for n fields, n times the messages and rounds of standard or staged, and as many
// cells.
std::vector<halo_round> sequenced_rounds(const plan_fields& fields, halo_reach reach,
                                         rounds_planner plan_one_field) {
  std::vector<halo_round> rounds;
  for (std::size_t i = 0; i < fields.mine.size(); ++i)
    for (auto& round :
         plan_one_field({fields.grid, fields.mine.subspan(i, 1), fields.of_rank}, reach))
      rounds.push_back(std::move(round));
  return rounds;
}

}  // namespace

std::vector<halo_round> plan_rounds(halo_algorithm algorithm, const plan_fields& fields,
                                    halo_reach reach, bool self_copies) {
  const rounds_planner standard = self_copies ? standard_rounds_copied_last : standard_rounds;
  switch (algorithm) {
    case halo_algorithm::faces: return standard_rounds(fields, halo_reach::faces);
    case halo_algorithm::standard: return standard(fields, reach);
    case halo_algorithm::staged: return staged_rounds(fields, reach);
    case halo_algorithm::hybrid: return hybrid_rounds(fields, reach);
    case halo_algorithm::sequenced: return sequenced_rounds(fields, reach, standard);
    case halo_algorithm::staged_sequenced: return sequenced_rounds(fields, reach, staged_rounds);
    case halo_algorithm::automatic: break;
  }
  assert(false);
  fail(errc::unsupported, "halo algorithm 'auto' has no rounds of its own");
}

}  // namespace longshore::detail

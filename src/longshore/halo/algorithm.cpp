#include <longshore/halo/algorithm.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>
#include <longshore/halo/detail/hybrid.hpp>
#include <longshore/halo/detail/sequenced.hpp>
#include <longshore/halo/detail/staged.hpp>
#include <longshore/halo/detail/standard.hpp>

#include <cassert>

namespace longshore {
namespace {

constexpr std::array<std::string_view, 7> names = {
    "standard", "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto"};

constexpr std::array<std::string_view, 3> reach_names = {"faces", "edges", "corners"};

detail::halo_message message(const rank_grid& grid, std::span<const halo_part> fields,
                             const halo_direction& direction, bool leaves,
                             std::array<bool, 3> filled) {
  detail::halo_message message;
  message.peer = grid.neighbour(leaves ? direction : direction.opposite());
  if (!message.exists()) return message;
  message.parts.reserve(fields.size());
  for (const auto& field : fields) {
    const auto block = region(grid, field, direction, leaves, filled);
    if (block.size_bytes() > 0) message.parts.push_back(block);
  }
  if (message.parts.empty()) message.peer = -1;
  return message;
}

}  // namespace

// What leaves fills the receiver's halo on the side that the message comes from: moving up it is
// the low halo, so the width there says how much leaves from this rank's high end.
detail::strided_block region(const rank_grid& grid, const halo_part& part,
                             const halo_direction& direction, bool leaves,
                             std::array<bool, 3> filled) {
  std::array<std::ptrdiff_t, 3> begin{};
  std::array<std::size_t, 3> size = part.memory.extents;
  for (int d = 0; d < 3; ++d) {
    const int step = direction.step[d];
    const auto cells = static_cast<std::ptrdiff_t>(part.memory.extents[d]);
    if (step != 0) {
      const int width = step > 0 ? part.widths.low[d] : part.widths.high[d];
      if (leaves)
        begin[d] = step > 0 ? cells - width : 0;
      else
        begin[d] = step > 0 ? -width : cells;
      size[d] = static_cast<std::size_t>(width);
    } else if (filled[d]) {
      // Beyond a border no halo came, and none may be passed on: both ends of the message lie at
      // the same border.
      halo_direction down, up;
      down.step[d] = -1, up.step[d] = +1;
      const int low = grid.neighbour(down) >= 0 ? part.widths.low[d] : 0;
      const int high = grid.neighbour(up) >= 0 ? part.widths.high[d] : 0;
      begin[d] = -low;
      size[d] += static_cast<std::size_t>(low + high);
    }
  }
  return part.memory.block(begin, size);
}

std::span<const std::string_view> halo_algorithm_names() noexcept { return names; }

std::string_view name_of(halo_algorithm algorithm) noexcept {
  return names[static_cast<std::size_t>(algorithm)];
}

halo_algorithm halo_algorithm_from(std::string_view name) {
  return static_cast<halo_algorithm>(index_of_name(names, name, "no halo algorithm is named"));
}

std::span<const std::string_view> halo_reach_names() noexcept { return reach_names; }

halo_reach halo_reach_from(std::string_view name) {
  return static_cast<halo_reach>(1 + index_of_name(reach_names, name, "no stencil reaches"));
}

halo_reach filled_by(halo_algorithm algorithm, halo_reach needed) {
  if (algorithm == halo_algorithm::automatic)
    fail(errc::usage,
         "halo algorithm 'auto' fills what the one that it became fills: ask the plan");
  if (algorithm == halo_algorithm::faces || needed == halo_reach::faces) return halo_reach::faces;
  if (algorithm == halo_algorithm::standard || algorithm == halo_algorithm::sequenced)
    return needed;
  return halo_reach::corners;
}

std::vector<detail::halo_round> plan_rounds(halo_algorithm algorithm, const rank_grid& grid,
                                            std::span<const halo_part> fields, halo_reach reach,
                                            bool own_copied) {
  const auto standard =
      own_copied ? &detail::standard_rounds_copied_last : &detail::standard_rounds;
  switch (algorithm) {
    case halo_algorithm::faces: return detail::standard_rounds(grid, fields, halo_reach::faces);
    case halo_algorithm::standard: return standard(grid, fields, reach);
    case halo_algorithm::staged: return detail::staged_rounds(grid, fields, reach);
    case halo_algorithm::hybrid: return detail::hybrid_rounds(grid, fields, reach);
    case halo_algorithm::sequenced: return detail::sequenced_rounds(grid, fields, reach, standard);
    case halo_algorithm::staged_sequenced:
      return detail::sequenced_rounds(grid, fields, reach, &detail::staged_rounds);
    case halo_algorithm::automatic: break;
  }
  assert(false);
  fail(errc::unsupported, "halo algorithm 'auto' has no rounds of its own");
}

bool is_within_ranks(const rank_grid& grid, const detail::halo_round& round) {
  return std::all_of(round.begin(), round.end(), [&](const detail::halo_leg& leg) {
    bool leaves = false;
    for (int d = 0; d < 3; ++d)
      leaves = leaves || (leg.direction.step[d] != 0 && grid.shape()[d] > 1);
    return !leaves;
  });
}

detail::halo_round plan_round(const rank_grid& grid, std::span<const halo_part> fields,
                              std::span<const halo_direction> directions,
                              std::array<bool, 3> filled) {
  detail::halo_round round;
  round.reserve(directions.size());
  for (const auto& direction : directions)
    round.push_back({direction, message(grid, fields, direction, true, filled),
                     message(grid, fields, direction, false, filled)});
  return round;
}

}  // namespace longshore

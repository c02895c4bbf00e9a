#include <longshore/halo/detail/hybrid.hpp>
#include <longshore/halo/detail/standard.hpp>

#include <optional>

namespace longshore::detail {
namespace {

// Whether the cells on side `side` of the block at `receiver` come from another node; nothing where
// nobody owns them.
std::optional<bool> is_far(const rank_grid& grid, const std::array<int, 3>& receiver,
                           const halo_direction& side) {
  const int owner = grid.neighbour(receiver, side);
  if (owner < 0) return std::nullopt;
  const auto& nodes = grid.ranks().nodes();
  return nodes.node_of(owner) != nodes.node_of(grid.rank_at(receiver));
}

// Of the halo of `receiver` on the side that a message in `direction` comes from, the sides with
// cells of another node: the face itself, and the edges and corners that lie towards dimensions
// which are filled already. `all`: none is missing that exists.
struct far_sides {
  std::vector<halo_direction> sides;
  bool all = true;
};

far_sides far_sides_of(const rank_grid& grid, const std::array<int, 3>& receiver,
                       const halo_direction& direction, int dimension) {
  far_sides found;
  for (int index = 0; index < 27; ++index) {
    auto side = halo_direction::from_index(index);
    bool belongs = side.step[dimension] == -direction.step[dimension];
    for (int d = dimension + 1; d < 3; ++d) belongs = belongs && side.step[d] == 0;
    if (!belongs) continue;
    const auto far = is_far(grid, receiver, side);
    if (!far) continue;
    if (*far)
      found.sides.push_back(side);
    else
      found.all = false;
  }
  return found;
}

// The cells of one side of the receiver's halo, at the sender (leaves) or the receiver. In the
// dimension of travel they lie as in any message in that direction; in the others inside the block,
// or in the halo, which is at the same place at both ends.
strided_block cells_of_side(const halo_part& part, const halo_direction& side, int dimension,
                            bool leaves) {
  std::array<std::ptrdiff_t, 3> begin{};
  std::array<std::size_t, 3> size = part.memory.extents;
  for (int d = 0; d < 3; ++d) {
    if (side.step[d] == 0) continue;
    const auto cells = static_cast<std::ptrdiff_t>(part.memory.extents[d]);
    const int width = side.step[d] < 0 ? part.widths.low[d] : part.widths.high[d];
    const bool inside = leaves && d == dimension;
    if (side.step[d] < 0)
      begin[d] = inside ? cells - width : -width;
    else
      begin[d] = inside ? 0 : cells;
    size[d] = static_cast<std::size_t>(width);
  }
  return part.memory.block(begin, size);
}

halo_message staged_message(const rank_grid& grid, std::span<const halo_part> fields,
                            const halo_direction& direction, int dimension, bool leaves) {
  halo_message message;
  const int peer = grid.neighbour(leaves ? direction : direction.opposite());
  if (peer < 0) return message;
  const auto receiver = leaves
                            ? *grid.placed().step_from(grid.coordinates(), direction, grid.wraps())
                            : grid.coordinates();
  const auto far = far_sides_of(grid, receiver, direction, dimension);
  std::array<bool, 3> filled{};
  for (int d = 0; d < dimension; ++d) filled[d] = true;
  const auto add = [&](const strided_block& block) {
    if (block.size_bytes() > 0) message.parts.push_back(block);
  };
  for (const auto& field : fields) {
    if (far.all && !far.sides.empty()) {
      add(region(grid, field, direction, leaves, filled));  // one box, which is often dense
      continue;
    }
    for (const auto& side : far.sides) add(cells_of_side(field, side, dimension, leaves));
  }
  if (!message.parts.empty()) message.peer = peer;
  return message;
}

}  // namespace

std::vector<halo_round> hybrid_rounds(const rank_grid& grid, std::span<const halo_part> fields,
                                      halo_reach reach) {
  if (reach == halo_reach::faces) return standard_rounds(grid, fields, reach);
  const auto& nodes = grid.ranks().nodes();
  std::vector<halo_round> rounds;
  rounds.push_back(plan_round(grid, fields, all_directions(grid.dimensions())));
  for (auto& leg : rounds[0])
    for (auto* const message : {&leg.outgoing, &leg.incoming})
      if (message->exists() && !nodes.is_local(message->peer)) *message = {};
  for (int d = 0; d < grid.dimensions(); ++d) {
    if (d > 0) rounds.emplace_back();
    for (const auto& direction : directions_along(d)) {
      auto out = staged_message(grid, fields, direction, d, true),
           in = staged_message(grid, fields, direction, d, false);
      if (d > 0) {
        rounds[d].push_back({direction, std::move(out), std::move(in)});
        continue;
      }
      // Through a face either all is on this node, or nothing is.
      for (auto& leg : rounds[0]) {
        if (!(leg.direction == direction)) continue;
        if (out.exists()) leg.outgoing = std::move(out);
        if (in.exists()) leg.incoming = std::move(in);
      }
    }
  }
  return rounds;
}

}  // namespace longshore::detail

#include <longshore/halo/detail/algorithms/hybrid.hpp>
#include <longshore/halo/detail/algorithms/standard.hpp>

#include <optional>

namespace longshore::detail {
namespace {

// Whether the halo on side `side` of the block at `receiver` belongs to a rank of another node;
// nothing beyond a border.
std::optional<bool> is_far(const rank_grid& grid, const std::array<int, 3>& receiver,
                           const halo_direction& side) {
  const int owner = grid.neighbour(receiver, side);
  if (owner < 0) return std::nullopt;
  const auto& nodes = grid.ranks().nodes();
  return nodes.node_of(owner) != nodes.node_of(grid.rank_at(receiver));
}

// The sides of a receiver's halo that one staged message fills from other nodes.
struct far_sides {
  std::vector<halo_direction> sides;
  bool all = true;  // no side of this message belongs to a rank of the node
};

// Candidates are the face that a message in `direction` comes through, and its edges and corners
// towards the dimensions before `dimension`, which are filled already.
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

// The cells of one side of the receiver's halo, as they lie at the sender (is_outgoing) or at the
// receiver. Along the dimension of travel the sender has them inside its block, and the receiver in
// its halo. Along the other dimensions both have them at the same indices.
strided_box cells_of_side(const exchanged_field& field, const halo_direction& side, int dimension,
                          bool is_outgoing) {
  std::array<std::ptrdiff_t, 3> begin{};
  std::array<std::size_t, 3> size = field.memory.extents;
  for (int d = 0; d < 3; ++d) {
    if (side.step[d] == 0) continue;
    const auto cells = static_cast<std::ptrdiff_t>(field.memory.extents[d]);
    const int width = side.step[d] < 0 ? field.widths.low[d] : field.widths.high[d];
    const bool inside = is_outgoing && d == dimension;
    if (side.step[d] < 0)
      begin[d] = inside ? cells - width : -width;
    else
      begin[d] = inside ? 0 : cells;
    size[d] = static_cast<std::size_t>(width);
  }
  return field.box(begin, size);
}

halo_message staged_message(const rank_grid& grid, std::span<const exchanged_field> fields,
                            const halo_direction& direction, int dimension, bool is_outgoing) {
  halo_message message;
  const int peer = grid.neighbour(is_outgoing ? direction : direction.opposite());
  if (peer < 0) return message;
  const auto receiver = is_outgoing
                            ? *grid.placed().step_from(grid.coordinates(), direction, grid.wraps())
                            : grid.coordinates();
  const auto far = far_sides_of(grid, receiver, direction, dimension);
  std::array<bool, 3> filled{};
  for (int d = 0; d < dimension; ++d) filled[d] = true;
  const auto add = [&](const strided_box& box) {
    if (box.size_bytes() > 0) message.parts.push_back(box);
  };
  for (const auto& field : fields) {
    if (far.all && !far.sides.empty()) {
      add(message_cells(grid, field, direction, is_outgoing, filled));  // one box, often contiguous
      continue;
    }
    for (const auto& side : far.sides) add(cells_of_side(field, side, dimension, is_outgoing));
  }
  if (!message.parts.empty()) message.peer = peer;
  return message;
}

}  // namespace

std::vector<halo_round> hybrid_rounds(const rank_grid& grid,
                                      std::span<const exchanged_field> fields, halo_reach reach) {
  if (reach == halo_reach::faces) return standard_rounds(grid, fields, reach);
  const auto& nodes = grid.ranks().nodes();
  std::vector<halo_round> rounds;
  rounds.push_back(make_round(grid, fields, all_directions(grid.dimensions())));
  for (auto& pair : rounds[0])
    for (auto* const message : {&pair.outgoing, &pair.incoming})
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
      // The neighbour through a face is on this node or on another: one of the two messages exists.
      for (auto& pair : rounds[0]) {
        if (!(pair.direction == direction)) continue;
        if (out.exists()) pair.outgoing = std::move(out);
        if (in.exists()) pair.incoming = std::move(in);
      }
    }
  }
  return rounds;
}

}  // namespace longshore::detail

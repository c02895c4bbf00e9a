// Algorithm hybrid. Halo cells of ranks of the same node come directly from their owners, through
// faces, edges and corners. Halo cells of ranks of other nodes are staged, one dimension after
// another. In mode direct the exchange on the node needs no messages.
//
// Cost per rank: d dependent rounds for d dimensions. On the node, the first round has the messages
// of algorithm standard, and at most 2d more messages pass on halo cells from other nodes. Between
// nodes there are at most 2d messages (6). The number of cells is that of algorithm standard.
#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <optional>

namespace longshore::detail {
namespace {

// Returns whether the halo on one side of the block at coordinates `receiver` belongs to a rank of
// another node, or nothing if the side is beyond a border.
std::optional<bool> is_far(const rank_grid& grid, const std::array<int, 3>& receiver,
                           const halo_direction& side) {
  const int owner = grid.neighbour(receiver, side);
  if (owner < 0) return std::nullopt;
  const auto& nodes = grid.ranks().nodes();
  return nodes.node_of(owner) != nodes.node_of(grid.rank_at(receiver));
}

// The sides of a receiver's halo that one staged message fills.
struct staged_sides {
  std::vector<halo_direction> far;  // the sides that belong to ranks of other nodes
  bool has_near = false;            // whether a side belongs to a rank of the receiver's node
};

// A staged message fills the face through which the message arrives. It also fills the edges and
// corners of this face towards earlier dimensions, whose halo is already filled.
staged_sides sides_of(const rank_grid& grid, const std::array<int, 3>& receiver,
                      const halo_direction& direction, int dimension) {
  staged_sides sides;
  for (int index = 0; index < 27; ++index) {
    const auto side = halo_direction::from_index(index);
    bool belongs = side.step[dimension] == -direction.step[dimension];
    for (int d = dimension + 1; d < 3; ++d) belongs = belongs && side.step[d] == 0;
    if (!belongs) continue;
    const auto far = is_far(grid, receiver, side);
    if (!far) continue;
    if (*far)
      sides.far.push_back(side);
    else
      sides.has_near = true;
  }
  return sides;
}

// Returns the cells of one end of a message that fill one side of the receiver's halo. Along the
// dimension of travel the cells lie inside the sender's block, and in the receiver's halo. Along
// other dimensions the cells have the same indices at both ends.
element_box cells_of_side(const exchanged_field& field, const halo_direction& side, int dimension,
                          message_end end, const halo_widths& of_receiver) {
  std::array<std::ptrdiff_t, 3> begin{};
  std::array<std::size_t, 3> size = field.memory.extents;
  for (int d = 0; d < 3; ++d) {
    const int step = side.step[d];
    if (step == 0) continue;
    const auto& widths = d == dimension ? of_receiver : field.widths;
    const int width = step < 0 ? widths.low[d] : widths.high[d];
    const bool is_interior = end == message_end::sender && d == dimension;
    begin[d] =
        is_interior ? field.first_of_owned(d, step, width) : field.first_of_halo(d, step, width);
    size[d] = static_cast<std::size_t>(width);
  }
  return field.box(begin, size);
}

halo_message staged_message(const plan_fields& fields, const halo_direction& direction,
                            int dimension, message_end end) {
  const auto& grid = fields.grid;
  halo_message message;
  message.peer = grid.neighbour(end == message_end::sender ? direction : direction.opposite());
  if (!message.exists()) return message;
  // The peer exists, so step_from() returns coordinates.
  const auto receiver = end == message_end::sender
                            ? *grid.placed().step_from(grid.coordinates(), direction, grid.wraps())
                            : grid.coordinates();
  const auto sides = sides_of(grid, receiver, direction, dimension);
  std::array<bool, 3> filled{};
  for (int d = 0; d < dimension; ++d) filled[d] = true;
  for (std::size_t i = 0; i < fields.mine.size(); ++i) {
    if (!sides.has_near && !sides.far.empty()) {
      // one box, often contiguous
      add_part(message, fields, i, end,
               [&](const exchanged_field& field, message_end at, const halo_widths& widths) {
                 return message_cells(grid, field, direction, at, widths, filled);
               });
      continue;
    }
    for (const auto& side : sides.far)
      add_part(message, fields, i, end,
               [&](const exchanged_field& field, message_end at, const halo_widths& widths) {
                 return cells_of_side(field, side, dimension, at, widths);
               });
  }
  if (message.parts.empty()) message.peer = -1;
  return message;
}

}  // namespace

std::vector<halo_round> hybrid_rounds(const plan_fields& fields, halo_reach reach) {
  if (reach == halo_reach::faces) return standard_rounds(fields, reach);
  const auto& nodes = fields.grid.ranks().nodes();
  std::vector<halo_round> rounds;
  rounds.push_back(make_round(fields, all_directions(fields.grid.dimensions())));
  for (auto& pair : rounds[0])
    for (auto* const message : {&pair.outgoing, &pair.incoming})
      if (message->exists() && !nodes.is_local(message->peer)) *message = {};
  for (int d = 0; d < fields.grid.dimensions(); ++d) {
    if (d > 0) rounds.emplace_back();
    for (const auto& direction : directions_along(d)) {
      auto out = staged_message(fields, direction, d, message_end::sender),
           in = staged_message(fields, direction, d, message_end::receiver);
      if (d > 0) {
        rounds[d].push_back({direction, std::move(out), std::move(in)});
        continue;
      }
      // The first round already has the message of a neighbour on this node. For a neighbour on
      // another node the staged message exists.
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

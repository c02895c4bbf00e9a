// Finds the cells of a message: which box the sender reads, and which box the receiver fills.
#include <longshore/halo/detail/algorithms/rounds.hpp>

#include <algorithm>

namespace longshore::detail {
namespace {

halo_message make_message(const plan_fields& fields, const halo_direction& direction,
                          message_end end, std::array<bool, 3> filled) {
  halo_message message;
  message.peer =
      fields.grid.neighbour(end == message_end::sender ? direction : direction.opposite());
  if (!message.exists()) return message;
  message.parts.reserve(fields.mine.size());
  for (std::size_t i = 0; i < fields.mine.size(); ++i)
    add_part(message, fields, i, end,
             [&](const exchanged_field& field, message_end at, const halo_widths& widths) {
               return message_cells(fields.grid, field, direction, at, widths, filled);
             });
  if (message.parts.empty()) message.peer = -1;
  return message;
}

}  // namespace

element_box exchanged_field::box(const std::array<std::ptrdiff_t, 3>& begin,
                                 const std::array<std::size_t, 3>& size) const noexcept {
  element_box box{0, size, memory.strides_bytes};
  for (int d = 0; d < 3; ++d) box.first += begin[d] * memory.strides_bytes[d];
  return box;
}

// A message fills the receiver's halo on the side from which the message comes. A message that
// travels up comes from below. So it fills the receiver's low halo with cells from the sender's
// high end.
element_box message_cells(const rank_grid& grid, const exchanged_field& field,
                          const halo_direction& direction, message_end end,
                          const halo_widths& widths, std::array<bool, 3> filled) {
  std::array<std::ptrdiff_t, 3> begin{};
  std::array<std::size_t, 3> size = field.memory.extents;
  for (int d = 0; d < 3; ++d) {
    if (const int side = -direction.step[d]; side != 0) {
      const int width = side < 0 ? widths.low[d] : widths.high[d];
      begin[d] = end == message_end::sender ? field.first_of_owned(d, side, width)
                                            : field.first_of_halo(d, side, width);
      size[d] = static_cast<std::size_t>(width);
    } else if (filled[d]) {
      // There is no halo beyond a border. The sender and the receiver have the same borders here.
      const auto [down, up] = directions_along(d);
      const int low = grid.neighbour(down) >= 0 ? field.widths.low[d] : 0;
      const int high = grid.neighbour(up) >= 0 ? field.widths.high[d] : 0;
      begin[d] = -low;
      size[d] += static_cast<std::size_t>(low + high);
    }
  }
  return field.box(begin, size);
}

halo_round make_round(const plan_fields& fields, std::span<const halo_direction> directions,
                      std::array<bool, 3> filled) {
  halo_round round;
  round.reserve(directions.size());
  for (const auto& direction : directions)
    round.push_back({direction, make_message(fields, direction, message_end::sender, filled),
                     make_message(fields, direction, message_end::receiver, filled)});
  return round;
}

bool stays_within_ranks(const rank_grid& grid, const halo_round& round) {
  return std::all_of(round.begin(), round.end(), [&](const message_pair& pair) {
    bool leaves = false;
    for (int d = 0; d < 3; ++d)
      leaves = leaves || (pair.direction.step[d] != 0 && grid.shape()[d] > 1);
    return !leaves;
  });
}

}  // namespace longshore::detail

// The rounds of a halo exchange, and the cells of each message. The planners of all algorithms call
// these functions. A program is made of the rounds.
#pragma once

#include <longshore/exchange/detail/elements/element_set.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/direction.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace longshore::detail {

/// Some cells of fields that differ in their addresses only. The boxes have the same cells at both
/// ends of a message. They count bytes from the first interior cell.
struct message_part {
  std::size_t first_field, fields, element_bytes;
  element_box here, there;

  [[nodiscard]] std::size_t bytes_of(const element_box& box) const noexcept {
    return box.size() * element_bytes * fields;
  }
};

/// One message, as seen by its sender or by its receiver.
struct halo_message {
  /// The rank at the other end, which may be this rank. If -1, there is no message.
  int peer = -1;
  /// The cells that are sent or filled, in order.
  std::vector<message_part> parts = {};

  [[nodiscard]] bool exists() const noexcept { return peer >= 0; }
  [[nodiscard]] std::size_t size_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto& part : parts) bytes += part.bytes_of(part.here);
    return bytes;
  }
};

/// The two messages of a rank in one direction of travel. The outgoing message goes to the
/// neighbour on that side, and the incoming message comes from the neighbour on the opposite side.
struct message_pair {
  halo_direction direction;
  halo_message outgoing, incoming;
};

/// Message pairs that do not depend on each other. All ranks have the same directions in the same
/// order.
using halo_round = std::vector<message_pair>;

/// A field, and the part of its halo that is exchanged. It may stand for a group of fields that
/// differ in their addresses only.
struct exchanged_field {
  field_memory memory;
  halo_widths widths;
  std::size_t number = 0;  ///< of the field in the plan
  std::size_t alike = 1;   ///< fields of the group, which have the next numbers

  /// The box of `size` cells from cell `begin`, in bytes from the first interior cell, which has
  /// index 0. Halo cells on low sides have negative indices.
  [[nodiscard]] element_box box(const std::array<std::ptrdiff_t, 3>& begin,
                                const std::array<std::size_t, 3>& size) const noexcept;
  /// The first of the cells along dimension d that fill a receiver's halo of `width` cells on a side
  /// (-1 or +1): in this halo, or in the block of their owner. The layers that both blocks have lie
  /// between these cells and the halo.
  [[nodiscard]] std::ptrdiff_t first_of_halo(int d, int side, int width) const noexcept {
    return side < 0 ? -width : static_cast<std::ptrdiff_t>(memory.extents[d]);
  }
  [[nodiscard]] std::ptrdiff_t first_of_owned(int d, int side, int width) const noexcept {
    const auto cells = static_cast<std::ptrdiff_t>(memory.extents[d]);
    return side < 0 ? cells - memory.shared[d] - width : memory.shared[d];
  }
};

/// The fields of a plan, or the first of each group, and what this rank knows of those of its
/// neighbours.
struct plan_fields {
  const rank_grid& grid;
  std::span<const exchanged_field> mine;
  /// The fields of each neighbour and of this rank, by rank. Addresses are null.
  const std::map<int, std::vector<exchanged_field>>& of_rank;

  /// The field at the other end of a message that belongs to `mine[i]`.
  [[nodiscard]] const exchanged_field& at(int rank, std::size_t i) const {
    return of_rank.at(rank)[mine[i].number];
  }
};

/// The two ends of a message: the sender reads cells, and the receiver fills cells.
enum class message_end { sender, receiver };

/// Makes one message in each direction, with the cells of all fields. A message without cells
/// exists at neither end. Along `filled` dimensions the halo has been received already. Messages
/// include this halo, and so carry edges and corners.
[[nodiscard]] halo_round make_round(const plan_fields& fields,
                                    std::span<const halo_direction> directions,
                                    std::array<bool, 3> filled = {});

/// Adds the cells of field `i` to a message. Adds nothing if both ends have no cells. box(field,
/// end, widths) returns the box of a field at an end of the message, if the receiver has `widths`.
/// This rank is at the end `end` of the message.
template <class Box>
void add_part(halo_message& message, const plan_fields& fields, std::size_t i, message_end end,
              const Box& box) {
  const auto other = end == message_end::sender ? message_end::receiver : message_end::sender;
  const auto &mine = fields.mine[i], &theirs = fields.at(message.peer, i);
  const auto& widths = (end == message_end::receiver ? mine : theirs).widths;
  const element_box here = box(mine, end, widths), there = box(theirs, other, widths);
  if (here.size() > 0 || there.size() > 0)
    message.parts.push_back({mine.number, mine.alike, mine.memory.element_bytes, here, there});
}

/// Returns the cells of one field in a message in `direction`, at the end `end`. `widths` are those
/// of the receiver. The grid is that of either end.
[[nodiscard]] element_box message_cells(const rank_grid& grid, const exchanged_field& field,
                                        const halo_direction& direction, message_end end,
                                        const halo_widths& widths, std::array<bool, 3> filled = {});

/// Returns the rounds of algorithm standard, which with reach `faces` are those of algorithm faces.
[[nodiscard]] std::vector<halo_round> standard_rounds(const plan_fields& fields, halo_reach reach);
[[nodiscard]] std::vector<halo_round> hybrid_rounds(const plan_fields& fields, halo_reach reach);

/// Whether no message of a round travels between ranks. All ranks get the same result, which
/// depends on the directions and the shape of the grid only.
[[nodiscard]] bool stays_within_ranks(const rank_grid& grid, const halo_round& round);

}  // namespace longshore::detail

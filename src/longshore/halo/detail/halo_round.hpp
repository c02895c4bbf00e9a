// The messages of one round of a halo exchange. Algorithms plan rounds, of which a program is made.
#pragma once

#include <longshore/exchange/detail/copy/strided_box.hpp>
#include <longshore/halo/direction.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// One message, as seen by its sender or by its receiver.
struct halo_message {
  /// The rank at the other end, which may be this rank. If -1, there is no message.
  int peer = -1;
  /// The cells that are sent or filled, as boxes in order.
  std::vector<strided_box> parts = {};
  /// For each part: its fields, and the box of the same cells at the other end. The box belongs to
  /// the first field. Its address is counted from the first interior cell there.
  struct part_fields {
    std::size_t first, count;
  };
  std::vector<part_fields> fields = {};
  std::vector<strided_box> peer_parts = {};

  [[nodiscard]] bool exists() const noexcept { return peer >= 0; }
  [[nodiscard]] std::size_t size_bytes() const noexcept {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) bytes += parts[i].size_bytes() * fields[i].count;
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

}  // namespace longshore::detail

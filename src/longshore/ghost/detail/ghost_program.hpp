// The messages of one operation of a plan, in rounds. Strategies write programs; movers (mover.hpp)
// transfer their messages.
#pragma once

#include <longshore/ghost/detail/ghost_links.hpp>
#include <longshore/ghost/detail/index_list.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// The memories of a rank that hold an element of every field. Further memories are buffers, in
/// which elements wait between rounds.
inline constexpr int owned_memory = 0, ghost_memory_number = 1, first_buffer = 2;

/// Some elements of a message.
struct outgoing_part {
  int memory = owned_memory;
  index_list elements;
};
/// The same elements at the receiver. The receiver also knows where they lie at the sender, so that
/// it can read them there.
struct incoming_part {
  int memory = ghost_memory_number;
  index_list elements;
  int sender_memory = owned_memory;
  index_list sender_elements;
  /// The rank that has the ghosts of this part. Parts are combined in the order of these ranks.
  int ghost_rank = -1;
};

/// A message to or from one rank. Messages of a rank to itself are incoming only.
struct outgoing_message {
  int peer = -1;
  std::vector<outgoing_part> parts;
};
struct incoming_message {
  int peer = -1;
  std::vector<incoming_part> parts;
};

/// Messages that do not depend on each other, in the order of ranks. A pair of ranks has one
/// message, or several after cut_messages(). All ranks have the same number of rounds.
struct ghost_round {
  std::vector<outgoing_message> outgoing;
  std::vector<incoming_message> incoming;
};

/// A round begins on a rank when all messages of the round before have arrived there. The last
/// round of an accumulate combines elements. All other rounds copy them.
struct ghost_program {
  std::vector<ghost_round> rounds;
  std::vector<std::size_t> buffer_elements = {};  ///< of each buffer of this rank
};

/// Returns the round after each message between hosts was cut into messages of at most
/// `max_elements`. Both ends of a message cut it in the same way.
[[nodiscard]] ghost_round cut_messages(const ghost_round& round, const node_map& nodes,
                                       std::size_t max_elements);

/// Returns a program of one round. In an update, owners send to the ranks that have their ghosts.
/// In an accumulate, these ranks send to the owners.
[[nodiscard]] ghost_program direct_update(const ghost_links& links);
[[nodiscard]] ghost_program direct_accumulate(const ghost_links& links);

}  // namespace longshore::detail

// The messages of an operation of a plan, in rounds. Front ends write programs; movers (mover.hpp)
// transfer their messages. A program names memories and elements by numbers, not by addresses.
#pragma once

#include <longshore/exchange/detail/bound_fields.hpp>
#include <longshore/exchange/detail/elements/element_set.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

/// Some elements of a message, of all fields of a memory.
struct outgoing_part {
  int memory = 0;
  element_set elements;
};
/// The same elements at the receiver. The receiver also knows where they lie at the sender, so that
/// it can read them there.
struct incoming_part {
  int memory = 0;
  element_set elements;
  int sender_memory = 0;
  element_set sender_elements;
  /// The rank whose values these are. Parts are combined in the order of these ranks, and the parts
  /// of one rank in the order of their numbers. The plan numbers the parts of a round in the order
  /// of its messages. So the order does not depend on when parts arrive.
  int contributor = -1;
  std::size_t number = 0;
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

/// Two messages that a sequence of calls exchanges together. Both travel in the same direction.
struct call_pair {
  int outgoing = -1, incoming = -1;  ///< their numbers in the round; -1 if there is no message
  int opposite = -1;                 ///< the pair whose messages travel in the opposite direction
  /// Whether this rank sends before it receives. Exactly one of the two ranks of a message does,
  /// unless they are the same rank.
  bool sends_first = true;
};

/// The Cartesian grid of all ranks, as MPI describes it: the last dimension varies fastest.
struct cartesian_ranks {
  std::vector<int> shape, periods;
  int number = 0;  ///< of this rank in the grid
};

/// Messages that do not depend on each other, in the order of ranks. A pair of ranks has one message
/// or several, in the same order at both ends. All ranks have the same number of rounds.
struct exchange_round {
  std::vector<outgoing_message> outgoing = {};
  std::vector<incoming_message> incoming = {};
  bool combines = false;  ///< whether elements are combined; all other rounds copy them
  /// For carriers that are sequences of MPI calls: the order of the calls. All ranks have the same
  /// number of pairs, and both ends of a message have it in the same pair. Messages of a rank to
  /// itself are then outgoing, too, and travel through MPI.
  std::vector<call_pair> pairs = {};
  /// The grid, if the pairs are all its faces in the order of MPI: for each dimension down, then up.
  std::optional<cartesian_ranks> grid = {};
};

/// Rounds of messages. A rank begins a round when all messages of the round before have arrived,
/// and all outgoing ones were given to their carrier.
struct exchange_program {
  std::vector<exchange_round> rounds;
  /// The bytes of elements that this rank gives to others and to itself, without detours.
  std::size_t payload_bytes = 0;
};

/// Returns the bytes of an element of all these fields.
[[nodiscard]] inline std::size_t element_bytes_of(std::span<const bound_field> fields) noexcept {
  std::size_t bytes = 0;
  for (const auto& field : fields) bytes += field.element_bytes;
  return bytes;
}

/// Returns the round with each message between hosts cut into messages of at most `max_bytes`, and
/// of at least one element. Boxes are not cut. Both ends of a message cut it in the same way.
[[nodiscard]] exchange_round cut_messages(const exchange_round& round, const node_map& nodes,
                                          const rank_memories& memories, std::size_t max_bytes);

}  // namespace longshore::detail

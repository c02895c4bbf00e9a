// The interface of posted messages: messages between nodes that travel by requests of the
// transport's library, from the sender's pack buffer to the receiver's buffer. A channel would copy
// each byte twice more. This header has no MPI types, so that files outside of detail/mpi can
// include it.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Whether messages between nodes are posted. If not, they go through channels.
[[nodiscard]] inline bool are_posted_between_nodes(const team& ranks) {
  return ranks.transport_name() == "mpi" && ranks.nodes().node_count() > 1;
}

/// Whether messages to and from `peer` are posted.
template <class Context>
[[nodiscard]] bool is_posted(const Context& context, int peer) {
  return !context.keeps_slots && are_posted_between_nodes(context.ranks) &&
         !context.ranks.nodes().is_local(peer);
}

/// One end of a posted message.
struct posted_end {
  int peer;
  std::size_t bytes;
  /// The memory that is sent or filled without packing; null if the message has a buffer.
  std::byte* in_place = nullptr;
};

/// Transfers the messages of one round. An exchange lasts from start() until is_done().
class posted_messages {
 public:
  virtual ~posted_messages() = default;
  posted_messages() = default;
  posted_messages(const posted_messages&) = delete;
  posted_messages& operator=(const posted_messages&) = delete;

  /// Begins to receive.
  virtual void start() = 0;
  /// After start(), message i is packed into outgoing(i) unless it is in place, and sent by send(i).
  [[nodiscard]] virtual std::byte* outgoing(std::size_t i) = 0;
  virtual void send(std::size_t i) = 0;
  /// Adds the numbers of incoming messages that have arrived since the last call. They stay valid
  /// until the next start().
  virtual void poll(std::vector<std::size_t>& arrived) = 0;
  [[nodiscard]] virtual const std::byte* incoming(std::size_t i) const = 0;
  /// Whether all messages have arrived, and all buffers of outgoing messages are free.
  [[nodiscard]] virtual bool is_done() const = 0;
  /// Call after is_done(), when all messages were stored. May begin to receive messages of the next
  /// exchange into buffers, so that MPI does not have to keep these messages.
  virtual void prepare_next() = 0;
  /// The number of outgoing messages that were not sent at the last poll().
  [[nodiscard]] virtual std::size_t pending_sends() const = 0;
  /// The peer of a message that has not arrived or was not sent, or -1.
  [[nodiscard]] virtual int awaited_peer() const = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
};

}  // namespace longshore::detail

namespace longshore::mpi {

/// The size of a piece for messages that travel whole. A message of MPI has less than 2 GiB, so even
/// these are cut at 1 GiB.
inline constexpr std::size_t whole_messages = std::size_t{1} << 30;

/// Local. All ranks call it in the same order. Messages longer than `piece_bytes` travel in pieces of
/// this size. REQUIRES: a team of the mpi transport; all ranks pass the same size. Several messages
/// between two ranks have the same order at both ends. Throws errc::out_of_memory. A
/// message to a rank that sends nothing back is synchronous, so that a rank cannot get more than
/// one exchange ahead of such a receiver. The destructor waits for such receivers.
[[nodiscard]] std::unique_ptr<detail::posted_messages> make_request_messages(
    longshore::team& ranks, std::span<const detail::posted_end> to,
    std::span<const detail::posted_end> from, std::size_t piece_bytes = whole_messages);

/// Collective. The size of the pieces in which the messages of all rounds of a plan travel, or
/// whole_messages. MPI sends a short message at once. Before it sends a long message, it asks the
/// receiver, which costs a round trip and saves copies. Which way is faster depends on the network.
/// So the first plan of a team that sends messages of this length to other hosts measures both ways.
/// Plans without long messages to other hosts measure nothing. REQUIRES: sender and receiver agree
/// on the sizes.
[[nodiscard]] std::size_t choose_piece_bytes(longshore::team& ranks,
                                             std::span<const detail::posted_end> to,
                                             std::span<const detail::posted_end> from);

/// The largest size of a message between hosts in bytes. Longer messages are cut, because MPI asks
/// the receiver before it sends them.
[[nodiscard]] std::size_t longest_posted_message() noexcept;

}  // namespace longshore::mpi

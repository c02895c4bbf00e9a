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

struct posted_end {
  int peer;
  std::size_t bytes;
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
  /// After start(), message i is packed into outgoing(i), and sent by send(i).
  [[nodiscard]] virtual std::byte* outgoing(std::size_t i) = 0;
  virtual void send(std::size_t i) = 0;
  /// Adds the numbers of incoming messages that have arrived since the last call. They stay valid
  /// until the next start().
  virtual void poll(std::vector<std::size_t>& arrived) = 0;
  [[nodiscard]] virtual const std::byte* incoming(std::size_t i) const = 0;
  /// Whether all messages have arrived, and all buffers of outgoing messages are free.
  [[nodiscard]] virtual bool is_done() const = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
};

}  // namespace longshore::detail

namespace longshore::mpi {

/// Local. All ranks call it in the same order. REQUIRES: a team of the mpi transport. Several
/// messages between two ranks have the same order at both ends. Throws errc::out_of_memory. A
/// message to a rank that sends nothing back is synchronous, so that a rank cannot get more than
/// one exchange ahead of such a receiver. The destructor waits for such receivers.
[[nodiscard]] std::unique_ptr<detail::posted_messages> make_request_messages(
    team& ranks, std::span<const detail::posted_end> to, std::span<const detail::posted_end> from);

/// The largest size of a message between hosts in bytes. Longer messages are cut, because MPI asks
/// the receiver before it sends them.
[[nodiscard]] std::size_t longest_posted_message() noexcept;

}  // namespace longshore::mpi

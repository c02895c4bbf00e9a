// Transfers the blocks for ranks of other nodes by messages without channels. A message goes from
// the outgoing items of one rank to the incoming items of another, without further copies.
#pragma once

#include <longshore/sort/detail/message_streams.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace longshore::detail {

class posted_blocks {
 public:
  struct outgoing_block {
    int target;
    const std::byte* data;
    std::size_t bytes;
  };
  struct incoming_block {
    int source;
    std::byte* data;
    std::size_t bytes;
  };
  using send_order = message_streams::send_order;
  using sent_callback = message_streams::sent_callback;
  using received_callback = message_streams::received_callback;

  virtual ~posted_blocks() = default;
  /// Starts all messages, and calls `sent` for each. The targets and sources call start() for the
  /// other ends of these blocks. Until is_done(), the outgoing blocks must not change, and the
  /// caller may read only those incoming messages that advance() has reported.
  virtual void start(std::span<const outgoing_block> outgoing,
                     std::span<const incoming_block> incoming, send_order order,
                     const sent_callback& sent) = 0;
  /// Unless `received` is empty, calls it for each message that has arrived since the last call.
  /// Returns whether there were any.
  virtual bool advance(const received_callback& received) = 0;
  /// REQUIRES: true at destruction. After a failure messages may still be under way.
  [[nodiscard]] virtual bool is_done() const noexcept = 0;
};

}  // namespace longshore::detail

namespace longshore::mpi {

/// Local, in the same order on all ranks. The size of a message is a multiple of `unit_bytes`.
/// REQUIRES: a team of the mpi transport.
[[nodiscard]] std::unique_ptr<detail::posted_blocks> make_block_requests(longshore::team& ranks,
                                                                         std::size_t unit_bytes);

}  // namespace longshore::mpi

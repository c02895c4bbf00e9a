// The interface of the backends of modes channel and direct. These backends never block: the mixed
// backend (mixed_backend.cpp) polls several of them.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/transfers.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>

namespace longshore::detail {

/// Transfers some messages of a round: those that exist in the round given to the constructor. The
/// caller removes the messages of other backends from the round.
class polled_backend {
 public:
  virtual ~polled_backend() = default;
  polled_backend() = default;
  polled_backend(const polled_backend&) = delete;
  polled_backend& operator=(const polled_backend&) = delete;

  virtual void start() = 0;
  /// Continues the exchange as far as possible without blocking.
  virtual void progress() = 0;
  /// The number of incoming messages that had not arrived at the last progress().
  [[nodiscard]] virtual std::size_t pending_receives() const = 0;
  /// The number of outgoing messages that were not sent, or not taken, at the last progress().
  [[nodiscard]] virtual std::size_t pending_sends() const = 0;
  /// A peer for which this backend waits. REQUIRES: a receive or a send is pending.
  [[nodiscard]] virtual int awaited_peer() const = 0;
  /// The memory of the incoming message of message pair `pair`. Null if another backend transfers
  /// this message.
  [[nodiscard]] virtual const std::byte* received(std::size_t pair) const = 0;
  [[nodiscard]] virtual traffic moved() const = 0;
  [[nodiscard]] virtual halo_transfers transfers() const = 0;
};

}  // namespace longshore::detail

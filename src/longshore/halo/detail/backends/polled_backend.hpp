// The interface of backends that never block: a caller polls them, and can ask for the peer that
// they wait for.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>

namespace longshore::detail {

/// Transfers some messages of a round. The messages of other backends do not exist in the round
/// that it is given.
class polled_backend {
 public:
  virtual ~polled_backend() = default;
  polled_backend() = default;
  polled_backend(const polled_backend&) = delete;
  polled_backend& operator=(const polled_backend&) = delete;

  virtual void start() = 0;
  /// Continues the exchange as far as possible without blocking.
  virtual void progress() = 0;
  /// The number of incoming messages that have not arrived, and of outgoing messages that their
  /// receivers have not taken, at the last progress().
  [[nodiscard]] virtual std::size_t pending_receives() const = 0;
  [[nodiscard]] virtual std::size_t pending_sends() const = 0;
  /// A peer that this backend waits for. REQUIRES: a receive or a send is pending.
  [[nodiscard]] virtual int awaited_peer() const = 0;
  /// The memory of the incoming message of a pair; null if another backend transfers it.
  [[nodiscard]] virtual const std::byte* received(std::size_t pair) const = 0;
  [[nodiscard]] virtual traffic moved() const = 0;
};

}  // namespace longshore::detail

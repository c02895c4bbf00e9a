// The interface of backends, which are the modes of MPI calls. A plan has one backend per round.
#pragma once

#include <longshore/halo/mode.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>

namespace longshore::detail {

/// Transfers the messages of one round, any number of times. An exchange lasts from start() until
/// wait() returns or test() is true. Only then may the next exchange start. During an exchange the
/// backend may read outgoing cells and write incoming cells.
class exchange_backend {
 public:
  virtual ~exchange_backend() = default;
  exchange_backend() = default;
  exchange_backend(const exchange_backend&) = delete;
  exchange_backend& operator=(const exchange_backend&) = delete;

  virtual void start() = 0;
  [[nodiscard]] virtual bool test() = 0;
  virtual void wait() = 0;
  /// The bytes of an incoming message, valid from the end of an exchange until the next start().
  /// `pair` is the index of a message pair. REQUIRES: a contiguous incoming message.
  [[nodiscard]] virtual const std::byte* received(std::size_t pair) const = 0;
  /// The traffic of this rank in one exchange.
  [[nodiscard]] virtual traffic moved() const = 0;
  [[nodiscard]] virtual halo_transfers transfers() const = 0;
};

}  // namespace longshore::detail

// What carriers have in common that never block: each goes on when it is asked, and says whom it
// waits for.
#pragma once

#include <longshore/halo/detail/message.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>

namespace longshore::detail {

/// Carries some of the messages of a round; the others are none of its business, and empty in the
/// round it was given.
class polled_carrier {
 public:
  virtual ~polled_carrier() = default;
  polled_carrier() = default;
  polled_carrier(const polled_carrier&) = delete;
  polled_carrier& operator=(const polled_carrier&) = delete;

  virtual void start() = 0;
  /// Goes on as far as possible.
  virtual void progress() = 0;
  /// Messages that have not come yet, and those that others have not taken yet; asked after
  /// progress().
  [[nodiscard]] virtual std::size_t missing() const = 0;
  [[nodiscard]] virtual std::size_t untaken() const = 0;
  /// One of those that are waited for. REQUIRES: there is one.
  [[nodiscard]] virtual int awaited_peer() const = 0;
  /// Where the incoming message of a leg lies in place; null when it is not of this carrier.
  [[nodiscard]] virtual const std::byte* received(std::size_t leg) const = 0;
  [[nodiscard]] virtual traffic moved() const = 0;
};

}  // namespace longshore::detail

// The interface of all exchange backends. A backend transfers the messages of one round in
// the way of its mode.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/shareable_memory.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::detail {

/// Transfers the messages of one round, any number of times. Sources may be read and targets
/// written from start() until wait() returns or test() is true. The next start() must come after
/// that.
class exchange_backend {
 public:
  virtual ~exchange_backend() = default;
  exchange_backend() = default;
  exchange_backend(const exchange_backend&) = delete;
  exchange_backend& operator=(const exchange_backend&) = delete;

  virtual void start() = 0;
  [[nodiscard]] virtual bool test() = 0;
  virtual void wait() = 0;
  /// Like test() and wait(), but for incoming messages only. A round that depends on these may then
  /// begin, while neighbours still read the outgoing ones.
  [[nodiscard]] virtual bool arrived() { return test(); }
  virtual void wait_arrival() { wait(); }
  /// The bytes of the incoming message of a pair, from the end of wait() until the next start().
  /// REQUIRES: delivery in_place, or a contiguous incoming message.
  [[nodiscard]] virtual const std::byte* received(std::size_t pair) const = 0;
  /// What this rank moves in one exchange.
  [[nodiscard]] virtual traffic moved() const = 0;
};

struct backend_options {
  halo_delivery delivery = halo_delivery::unpacked;
  /// Memory of outgoing cells that the other processes of the node can map.
  std::vector<memory_handle> shareable = {};
  /// The tasks that pack and unpack large messages; null: the calling thread. They must outlive the
  /// backends.
  tasks* workers = nullptr;
};

/// Collective. Makes a backend for each round of an exchange. Throws errc::unsupported with the
/// reason of why_not if there is one, and errc::usage if two ranks disagree on the size of a
/// message between them.
[[nodiscard]] std::vector<std::unique_ptr<exchange_backend>> make_backends(
    halo_mode mode, const rank_grid& grid, std::vector<halo_round> rounds,
    const backend_options& options = {});

}  // namespace longshore::detail

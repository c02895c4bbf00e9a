// The interfaces of backends, which implement the modes. A plan has one exchange backend per round.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/agree_on_arguments.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::detail {

/// The calls that all backends have. `pair` is the index of a message pair.
class any_backend {
 public:
  virtual ~any_backend() = default;
  any_backend() = default;
  any_backend(const any_backend&) = delete;
  any_backend& operator=(const any_backend&) = delete;

  virtual void start() = 0;
  /// The bytes of an incoming message, valid from the end of an exchange until the next start().
  /// Null if another backend transfers the message. REQUIRES: delivery in_place, or a contiguous
  /// incoming message.
  [[nodiscard]] virtual const std::byte* received(std::size_t pair) const = 0;
  /// The traffic of this rank in one exchange.
  [[nodiscard]] virtual traffic moved() const = 0;
  [[nodiscard]] virtual halo_transfers transfers() const = 0;
};

/// Transfers the messages of one round, any number of times. An exchange lasts from start() until
/// wait() returns or test() is true. Only then may the next exchange start. During an exchange the
/// backend may read outgoing cells and write incoming cells.
class exchange_backend : public any_backend {
 public:
  [[nodiscard]] virtual bool test() = 0;
  virtual void wait() = 0;
  /// Like test() and wait(), but for incoming messages only. The next round, which depends on the
  /// incoming messages, may then begin while neighbours still read outgoing cells.
  [[nodiscard]] virtual bool arrived() { return test(); }
  virtual void wait_arrival() { wait(); }
};

/// Transfers the messages that exist in the round given to the constructor. The caller removes the
/// messages of other backends from the round. Never blocks, because modes channel and direct poll
/// several of these backends.
class polled_backend : public any_backend {
 public:
  /// Continues the exchange as far as possible without blocking.
  virtual void progress() = 0;
  /// The number of incoming messages that had not arrived at the last progress().
  [[nodiscard]] virtual std::size_t pending_receives() const = 0;
  /// The number of outgoing messages that were not sent, or not taken, at the last progress().
  [[nodiscard]] virtual std::size_t pending_sends() const = 0;
  /// A peer for which this backend waits. REQUIRES: a receive or a send is pending.
  [[nodiscard]] virtual int awaited_peer() const = 0;
};

struct backend_options {
  halo_delivery delivery = halo_delivery::unpacked;
  /// The shareable memory that holds outgoing cells.
  std::vector<shared_memory_handle> shareable = {};
  /// The tasks that pack and unpack large messages. The tasks must outlive the backends. If
  /// `workers` is null, the calling thread packs and unpacks.
  tasks* workers = nullptr;
  /// The bytes of the cache lines of all cells of all rounds, set by make_backends().
  std::size_t touched_bytes = 0;
};

/// Adds an outgoing message to the traffic of a rank.
inline void count_message(traffic& moved, const team& ranks, const halo_message& message) {
  moved.payload_bytes += message.size_bytes();
  moved.wire_bytes += message.size_bytes();
  if (!ranks.nodes().is_local(message.peer)) moved.offnode_bytes += message.size_bytes();
}

/// Collective: a handshake with the neighbours, and one allreduce of 8 bytes. Throws errc::usage on
/// all ranks if the receiver of a message expects another message. A rank that did not throw would
/// access cells that do not exist. The first call for a grid with neighbours on other nodes opens
/// channels to them, of 8 KiB each.
void agree_on_messages(const rank_grid& grid, const std::vector<halo_round>& rounds);

/// Returns the shape and periods of a grid, for all ranks to compare. A plan adds its arguments.
[[nodiscard]] common_arguments grid_arguments(const rank_grid& grid);

/// Collective. Makes a backend for each round of an exchange. Throws errc::unsupported if why_not
/// gives a reason, and errc::usage if two ranks disagree on the cells of a message between them.
[[nodiscard]] std::vector<std::unique_ptr<exchange_backend>> make_backends(
    halo_mode mode, const rank_grid& grid, std::vector<halo_round> rounds,
    const backend_options& options = {});

}  // namespace longshore::detail

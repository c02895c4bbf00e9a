// Modes: which calls carry the messages that an algorithm asked for.
//
// To add one: its name here, a carrier of its own beside channel_carrier.hpp (or under mpi/), a
// line in make_carriers.
#pragma once

#include <longshore/halo/detail/message.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/readable_memory.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

enum class halo_mode {
  channel,
  direct,
  sendrecv,
  redblack,
  isend_recv,
  irecv_send,
  pairwise,
  waitall,
  persistent,
  neighbor,
  partitioned,
  subarray,
  rma_fence,
  rma_pscw,
  rma_flush
};

/// Names as users type them, in the order of the enumeration: "channel", ..., "isend-recv", ...,
/// "rma-flush".
[[nodiscard]] std::span<const std::string_view> halo_mode_names() noexcept;
[[nodiscard]] std::string_view name_of(halo_mode mode) noexcept;
/// Throws errc::usage for a name that is none.
[[nodiscard]] halo_mode halo_mode_from(std::string_view name);

/// Whether a mode is a sequence of MPI calls.
[[nodiscard]] bool is_mpi_mode(halo_mode mode) noexcept;

/// Why a mode cannot carry messages on ranks arranged like this, or nothing. `transport` is
/// team::transport_name().
[[nodiscard]] std::optional<std::string> why_not(halo_mode mode, std::string_view transport,
                                                 const std::array<int, 3>& grid,
                                                 const std::array<bool, 3>& periodic);

/// What becomes of a message that has arrived.
enum class halo_delivery {
  unpacked,  ///< it is copied to its parts
  in_place,  ///< it stays where it arrived, and received() says where; its parts are not written
};

/// Carries one round of messages, any number of times. Sources may be read and targets written from
/// start() until wait() returns or test() gives true; in between the next start() is not allowed.
class message_carrier {
 public:
  virtual ~message_carrier() = default;
  message_carrier() = default;
  message_carrier(const message_carrier&) = delete;
  message_carrier& operator=(const message_carrier&) = delete;

  virtual void start() = 0;
  [[nodiscard]] virtual bool test() = 0;
  virtual void wait() = 0;
  /// The same for what comes only: then a round that depends on it may begin, while others still
  /// read what leaves here.
  [[nodiscard]] virtual bool arrived() { return test(); }
  virtual void wait_arrival() { wait(); }
  /// Bytes of the incoming message of a leg, from the end of wait() until the next start().
  /// REQUIRES: in_place, or the leg's incoming message is dense.
  [[nodiscard]] virtual const std::byte* received(std::size_t leg) const = 0;
  /// What this rank moves in one exchange.
  [[nodiscard]] virtual traffic moved() const = 0;
};

struct carrier_options {
  halo_delivery delivery = halo_delivery::unpacked;
  /// Memory that outgoing messages may lie in, and that the other processes of the node can read.
  std::vector<memory_ticket> readable = {};
  /// Who packs and unpacks large messages; null: the calling thread. Must outlive the carriers.
  tasks* workers = nullptr;
};

/// Collective. A carrier for each of the rounds of an exchange. Throws errc::unsupported where
/// why_not has a reason, errc::usage when two ranks do not agree on the size of a message between
/// them.
[[nodiscard]] std::vector<std::unique_ptr<message_carrier>> make_carriers(
    halo_mode mode, const rank_grid& grid, std::vector<detail::halo_round> rounds,
    const carrier_options& options = {});

/// The same for one round.
[[nodiscard]] std::unique_ptr<message_carrier> make_carrier(halo_mode mode, const rank_grid& grid,
                                                            detail::halo_round round,
                                                            const carrier_options& options = {});

}  // namespace longshore

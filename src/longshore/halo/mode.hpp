// Modes: which calls carry the messages that an algorithm asked for.
//
// To add one: its name here, a carrier of its own beside channel_carrier.hpp (or under mpi/), a line in make_carrier.
#pragma once

#include <longshore/halo/message.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

/// Names as users type them, in the order of the enumeration: "channel", ..., "isend-recv", ..., "rma-flush".
[[nodiscard]] std::span<const std::string_view> halo_mode_names() noexcept;
[[nodiscard]] std::string_view name_of(halo_mode mode) noexcept;
/// Throws errc::usage for a name that is none.
[[nodiscard]] halo_mode halo_mode_from(std::string_view name);

/// Whether a mode is a sequence of MPI calls.
[[nodiscard]] bool is_mpi_mode(halo_mode mode) noexcept;

/// Why a mode cannot carry messages on ranks arranged like this, or nothing. `transport` is team::transport_name().
[[nodiscard]] std::optional<std::string> why_not(halo_mode mode, std::string_view transport, const std::array<int, 3>& grid,
                                                 const std::array<bool, 3>& periodic);

/// What becomes of a message that has arrived.
enum class halo_delivery {
  unpacked,  ///< it is copied to its parts
  in_place,  ///< it stays where it arrived, and received() says where; its parts are not written
};

/// Carries one round of messages, any number of times. Sources may be read and targets written from start() until wait()
/// returns or test() gives true; in between the next start() is not allowed.
class message_carrier {
 public:
  virtual ~message_carrier() = default;
  message_carrier() = default;
  message_carrier(const message_carrier&) = delete;
  message_carrier& operator=(const message_carrier&) = delete;

  virtual void start() = 0;
  [[nodiscard]] virtual bool test() = 0;
  virtual void wait() = 0;
  /// Bytes of the incoming message of a leg, from the end of wait() until the next start(). REQUIRES: in_place, or the leg's
  /// incoming message is dense.
  [[nodiscard]] virtual const std::byte* received(std::size_t leg) const = 0;
  /// What this rank moves in one exchange.
  [[nodiscard]] virtual traffic moved() const = 0;
};

/// Collective. Throws errc::unsupported where why_not has a reason. `readable`: a segment in which all outgoing messages lie,
/// dense, so that mode channel can let the receiver copy them from there; null when they lie elsewhere.
[[nodiscard]] std::unique_ptr<message_carrier> make_carrier(halo_mode mode, const rank_grid& grid, halo_round round,
                                                            halo_delivery delivery = halo_delivery::unpacked,
                                                            const segment* readable = nullptr);

}  // namespace longshore

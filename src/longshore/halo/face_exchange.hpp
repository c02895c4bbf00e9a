// Exchanges one contiguous buffer per face, for programs that pack their cells themselves. The
// benchmark halobench measures the same exchange.
#pragma once

#include <longshore/exchange/transfers.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

namespace detail {
class exchange_plan;
}

struct face_options {
  std::size_t bytes = 0;  ///< size of each buffer, the same on all ranks
  halo_mode mode = halo_mode::channel;
  /// `unpacked` copies messages to buffers whose addresses never change. `in_place` saves this copy
  /// in mode channel: messages stay in their slots. The addresses of received() then change from
  /// one exchange to the next.
  halo_delivery delivery = halo_delivery::unpacked;
};

/// A plan of an exchange, and its buffers. Destroying a plan is collective. Movable.
class face_exchange {
 public:
  /// Collective. All ranks pass the same grid and options; otherwise all ranks throw errc::usage.
  /// Throws errc::usage for 0 bytes, errc::unsupported if the mode is not available,
  /// errc::out_of_memory.
  face_exchange(const rank_grid& grid, const face_options& options);
  ~face_exchange();
  face_exchange(face_exchange&& other) noexcept;
  face_exchange& operator=(face_exchange&& other) noexcept;

  /// The 2, 4 or 6 sides, in the order of the buffers in memory.
  [[nodiscard]] std::span<const halo_direction> sides() const noexcept;
  /// The buffer that is sent to the neighbour on side i. An exchange does not change the buffer. Do
  /// not write the buffer from start() to the end of wait().
  [[nodiscard]] std::span<std::byte> outgoing(std::size_t i) noexcept;
  /// The message of the neighbour on side i, valid from the end of wait() until the next start().
  /// The span is empty if there is no neighbour.
  [[nodiscard]] std::span<const std::byte> received(std::size_t i) const;
  /// The buffer that receives the message of side i. The user may write the buffer between
  /// exchanges. REQUIRES: delivery unpacked.
  [[nodiscard]] std::span<std::byte> incoming(std::size_t i) noexcept;

  /// Begins an exchange. Modes with blocking MPI calls block here. Throws errc::usage if an
  /// exchange is in flight.
  void start();
  /// Continues the exchange as far as possible without blocking. Returns whether it is complete.
  [[nodiscard]] bool test();
  /// Returns when all messages have arrived and the outgoing buffers may be written. Mode channel
  /// waits until the neighbours have taken the messages of this rank. Neighbours take messages in
  /// start(), test() and wait() of this exchange. Throws errc::usage if no exchange was started.
  void wait();
  /// The traffic of this rank in one exchange.
  [[nodiscard]] traffic moved() const;
  /// The payload of this rank in one exchange, split by the way in which it moves.
  [[nodiscard]] exchange_transfers transfers() const;

 private:
  std::vector<halo_direction> sides_;
  std::vector<bool> has_neighbour_;
  std::size_t bytes_;
  shareable_memory send_;  // modes channel and direct read this memory from other ranks
  pages receive_;
  detail::team_bound<detail::exchange_plan> plan_;
  std::vector<std::size_t> message_from_;  // the number of the message from each side
  bool in_flight_ = false;
};

}  // namespace longshore

// Exchange of one contiguous buffer per face, without packing: what halobench measures, and what a
// program needs that packs itself.
#pragma once

#include <longshore/halo/halo_widths.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/halo/readable_memory.hpp>
#include <longshore/machine/pages.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

struct face_options {
  std::size_t bytes = 0;  ///< of each buffer, the same on all ranks
  halo_mode mode = halo_mode::channel;
  /// unpacked: what arrives is copied to buffers whose addresses never change. in_place: mode
  /// channel leaves it in the slot where it arrived: one copy less, and received() changes from one
  /// exchange to the next.
  halo_delivery delivery = halo_delivery::unpacked;
};

/// A plan, with the buffers it exchanges. Destroying it is collective.
class face_exchange {
 public:
  /// Collective. Throws errc::unsupported where the mode cannot be had, errc::out_of_memory.
  face_exchange(const rank_grid& grid, const face_options& options);

  /// The 2, 4 or 6 sides, in the order of the buffers in memory.
  [[nodiscard]] std::span<const halo_direction> sides() const noexcept { return sides_; }
  /// What is sent to the neighbour on side i. Keeps its content; must not be written from start()
  /// to the end of wait().
  [[nodiscard]] std::span<std::byte> outgoing(std::size_t i) noexcept {
    return {send_.data() + i * bytes_, bytes_};
  }
  /// What the neighbour on side i sent, from the end of wait() until the next start(). Empty where
  /// there is no neighbour.
  [[nodiscard]] std::span<const std::byte> received(std::size_t i) const;
  /// The buffers of what is received, for those who want to write there in between. Delivery
  /// unpacked only.
  [[nodiscard]] std::span<std::byte> incoming(std::size_t i) noexcept {
    return {receive_.data() + i * bytes_, bytes_};
  }

  /// Begins an exchange. Blocks in the modes whose MPI calls block. Throws errc::usage when one is
  /// in flight.
  void start();
  /// Goes on with the exchange as far as possible; true when it is complete.
  [[nodiscard]] bool test();
  /// Returns when all has arrived, and the outgoing buffers may be written. Like a send of MPI,
  /// mode channel waits until the neighbours have taken what they got, which they do in start(),
  /// test() and wait() of this exchange. Throws errc::usage when none was started.
  void wait();
  [[nodiscard]] traffic moved() const { return carrier_->moved(); }

 private:
  std::vector<halo_direction> sides_;
  std::vector<bool> has_neighbour_;
  std::size_t bytes_;
  readable_memory send_;  // modes channel and direct: receivers may read what is sent where it lies
  pages receive_;
  std::unique_ptr<message_carrier> carrier_;
  bool in_flight_ = false;
};

}  // namespace longshore

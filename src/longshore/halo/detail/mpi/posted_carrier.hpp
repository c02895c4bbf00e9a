// Messages between nodes over MPI, for modes channel and direct: persistent requests from where a
// message is packed straight to where it is unpacked, or from cells to cells where nothing needs
// packing. No slot in between.
//
// Small messages to the same neighbour, on both sides of this rank or through edges and corners, go
// as one. Each is unpacked when it has arrived, while others are still under way; receives are
// posted before they are needed.
//
// Cost: at most one message per leg. Memory per rank: the messages that need packing. A neighbour
// that only receives cannot be left behind by more than an exchange: what goes one way only is sent
// synchronously.
#pragma once

#include <longshore/halo/detail/mpi/lane.hpp>
#include <longshore/halo/detail/packed_message.hpp>
#include <longshore/halo/detail/polled_carrier.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/watchdog.hpp>

#include <vector>

namespace longshore::mpi {

class posted_carrier final : public detail::polled_carrier {
 public:
  /// Collective over neighbours. Throws errc::usage when two ranks do not agree on the size of a
  /// message between them.
  posted_carrier(const rank_grid& grid, const detail::halo_round& round, const lane& where,
                 tasks* workers);
  ~posted_carrier() override;

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t missing() const override { return missing_; }
  [[nodiscard]] std::size_t untaken() const override { return under_way_ - missing_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t leg) const override { return received_[leg]; }
  [[nodiscard]] traffic moved() const override { return moved_; }

 private:
  /// One MPI message: one or more messages of the round.
  struct envelope {
    int peer, tag;
    detail::packed_message cells;
    std::byte* dense;  // where it lies when it needs no packing, else null
    std::byte* data = nullptr;
  };
  static void put(std::vector<envelope>& all, const detail::halo_message& message, int tag);
  void check_sizes(const rank_grid& grid);
  void make_buffers();
  void make_requests();

  std::shared_ptr<const communicator> comm_;
  watchdog& dog_;
  tasks* workers_;
  std::vector<envelope> incoming_, outgoing_;
  pages buffers_;
  std::vector<MPI_Request> requests_;  // of incoming_, then of outgoing_
  std::vector<int> done_;              // what MPI_Testsome says
  std::vector<bool> is_under_way_;     // by request
  std::size_t missing_ = 0, under_way_ = 0;
  // the receives that need unpacking wait for the next exchange
  bool posted_ = false;
  std::vector<const std::byte*> received_;  // by leg
  traffic moved_;
};

}  // namespace longshore::mpi

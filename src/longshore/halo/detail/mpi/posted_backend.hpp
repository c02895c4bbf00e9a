// The backend of modes channel and direct for messages between nodes over MPI: persistent requests,
// from the memory in which a message is packed to the memory from which it is unpacked. Contiguous
// cells are sent and received without packing. No slot lies in between.
//
// Small messages to the same neighbour, in any direction, travel as one. Each message is
// unpacked on arrival, while others are still in flight. Receives are posted before they are
// needed.
//
// Cost: at most one message per direction. Memory per rank: the messages that need packing. If
// messages go in one direction only, they are sent synchronously, so that the receiver is at most
// one exchange behind.
#pragma once

#include <longshore/halo/detail/backends/polled_backend.hpp>
#include <longshore/halo/detail/copy/packed_message.hpp>
#include <longshore/halo/detail/mpi/round_communicator.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/watchdog.hpp>

#include <vector>

namespace longshore::mpi {

class posted_backend final : public detail::polled_backend {
 public:
  /// Collective over neighbours. Throws errc::usage if two ranks disagree on the size of a message
  /// between them.
  posted_backend(const rank_grid& grid, const detail::halo_round& round,
                 const round_communicator& tags, tasks* workers);
  ~posted_backend() override;

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return missing_; }
  [[nodiscard]] std::size_t pending_sends() const override { return in_flight_ - missing_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
  [[nodiscard]] traffic moved() const override { return moved_; }

 private:
  /// One MPI message, which joins one or more messages of the round.
  struct joined_message {
    int peer, tag;
    detail::packed_message cells;
    std::byte* contiguous;  // its memory if it needs no packing, else null
    std::byte* data = nullptr;
  };
  static void join(std::vector<joined_message>& all, const detail::halo_message& message, int tag);
  void check_sizes(const rank_grid& grid);
  void make_buffers();
  void make_requests();

  std::shared_ptr<const communicator> comm_;
  watchdog& dog_;
  tasks* workers_;
  std::vector<joined_message> incoming_, outgoing_;
  pages buffers_;
  std::vector<MPI_Request> requests_;  // of incoming_, then of outgoing_
  std::vector<int> done_;              // the result of MPI_Testsome
  std::vector<bool> is_in_flight_;     // by request
  std::size_t missing_ = 0, in_flight_ = 0;
  // receives that need unpacking are posted already for the next exchange
  bool posted_ = false;
  std::vector<const std::byte*> received_;  // by pair
  traffic moved_;
};

}  // namespace longshore::mpi

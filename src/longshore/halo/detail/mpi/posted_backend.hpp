// The backend of modes channel and direct for messages between nodes over MPI. Persistent requests
// transfer messages without the slots of a channel, and contiguous cells without packing. Receives
// of messages that are unpacked are posted early, at the end of the exchange before.
//
// Small messages to the same neighbour, in any direction, are joined to one message. Each message
// is unpacked on arrival, while other messages are still in flight. Long messages may travel in
// pieces that MPI sends without asking the receiver.
//
// Cost: at most one message per direction, or one per piece. Memory per rank: the messages that need packing.
// Messages to a rank that sends none back are sent synchronously, so that the receiver is at most
// one exchange behind.
#pragma once

#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/halo/detail/backends/polled_backend.hpp>
#include <longshore/halo/detail/copy/packed_message.hpp>
#include <longshore/halo/detail/mpi/round_setup.hpp>
#include <longshore/machine/pages.hpp>

#include <vector>

namespace longshore::mpi {

class posted_backend final : public detail::polled_backend {
 public:
  /// Local.
  explicit posted_backend(const round_setup& setup);
  ~posted_backend() override;
  /// Once, before the first exchange. Longer messages travel in pieces of `piece_bytes`, which is
  /// the same on all ranks.
  void make_requests(std::size_t piece_bytes);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return pending_receives_; }
  [[nodiscard]] std::size_t pending_sends() const override { return pending_sends_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] halo_transfers transfers() const override {
    return {.posted = moved_.payload_bytes};
  }

 private:
  /// An MPI message, which joins one or several messages of the round.
  struct joined_message {
    int peer, tag;
    detail::packed_message cells;
    std::byte* contiguous;      // the cells if they need no packing, else null
    std::byte* data = nullptr;  // `contiguous`, or memory of buffers_
  };
  static void join(std::vector<joined_message>& messages, const detail::halo_message& message,
                   int tag);
  void make_buffers();
  void start_requests(std::size_t first, std::size_t end);
  [[nodiscard]] std::size_t receive_count() const noexcept { return first_receives_.back(); }

  std::shared_ptr<const communicator> comm_;
  tasks* workers_;
  std::vector<joined_message> incoming_, outgoing_;
  pages buffers_;
  // The pieces of incoming_, then of outgoing_; the message of each piece, in its list.
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> message_of_;
  // Indexed by message: its first request; then the end of the last.
  std::vector<std::size_t> first_receives_, first_sends_;
  std::vector<std::size_t> missing_pieces_;  // indexed by incoming message
  std::vector<int> completed_;               // the result of MPI_Testsome
  std::vector<bool> is_in_flight_;           // indexed by request
  std::size_t pending_receives_ = 0;         // messages
  std::size_t pending_sends_ = 0;            // pieces
  std::size_t in_flight_ = 0;                // pieces of both
  // Whether the receives that need unpacking are already posted for the next exchange.
  bool receives_are_posted_ = false;
  std::vector<const std::byte*> received_;  // indexed by message pair
  traffic moved_;
};

}  // namespace longshore::mpi

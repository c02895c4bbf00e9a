// Channels between nodes over MPI: a message is one or more sends into posted receives.
//
// The receiver has a receive posted for each free slot. commit() sends from the sender's slot, by
// MPI_Issend or MPI_Isend. front() gives the slot whose receive is complete, and release() posts
// that receive again. A synchronous send completes only when a posted receive has matched it. So
// the completion is the credit: the sender's slot is free. At most `slots` messages per channel are
// unexpected at the receiver, and the data of these messages stay in the sender's slots.
//
// A synchronous send costs the receiver an answer. So with eight slots or more, only the last
// message of a quarter of the slots is synchronous: MPI matches in order, so its completion frees
// the whole quarter. That is early enough. The sender needs a slot again after `slots` further
// messages; if the receiver has released that slot, all messages of the quarter are matched.
//
// Messages that MPI would not send at once are cut into pieces that MPI sends at once, except long
// messages. Between virtual nodes of one host, messages of 4 to 32 KiB are two to three times as
// fast as with a handshake. Between hosts a handshake waits for the network's delay. Every message
// of a channel has the same number of pieces, so that each piece has a posted receive of its own.
// The last pieces may be empty. Only the last piece is a synchronous send: MPI matches in order, so
// the last match is the last of all.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/mpi/detail/call.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace longshore::mpi {

/// How the messages of a channel are cut into pieces. Both ends have the same format.
struct message_format {
  /// `eager_bytes`: the longest piece that MPI sends at once, or 0 if that is not known.
  message_format(std::size_t slot_bytes, std::size_t eager_bytes) noexcept;

  std::size_t slot_bytes;
  std::size_t piece_bytes;  ///< of all pieces but the last
  std::size_t pieces;       ///< of each message, at least 1
};

/// Bytes of all slots of one end. Throws errc::usage if a slot is too long for one MPI message.
[[nodiscard]] std::size_t message_buffer_bytes(std::size_t slot_bytes, int slots);

class message_sender final : public channel_sender {
 public:
  /// `buffer` has message_buffer_bytes(end.slot_bytes, end.slots) bytes, and must outlive the
  /// object.
  message_sender(channel_end end, message_format format, std::byte* buffer, MPI_Comm comm, int tag);
  std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Sends the closing message when a slot is free. True when the closing message and all others
  /// have been received.
  bool try_close();

 private:
  [[nodiscard]] bool is_free(std::size_t slot);
  [[nodiscard]] bool is_group_free(std::size_t slot);
  void send(std::size_t bytes, bool is_synchronous);

  message_format format_;
  std::byte* buffer_;
  MPI_Comm comm_;
  int tag_;
  std::vector<MPI_Request> requests_;  // indexed by slot, then by piece
  std::size_t slots_, slot_ = 0;
  std::size_t group_slots_;  // slots of a group; only the last message of a group is synchronous
  bool close_sent_ = false;
};

class message_receiver;

/// The last receive of the next message of each channel of a set. One MPI call tests all these
/// receives, after each receiver has been polled once. If each receiver tested only its own
/// receive, every empty poll would cost an MPI call. On shared cores MPI yields the core in such a
/// call, so a poll would cost a time slice.
class pending_receives {
 public:
  /// Returns the index of `receiver`, which must outlive the object.
  std::size_t add(message_receiver& receiver);
  /// Sets the last receive of the next message of receiver `index`.
  void set(std::size_t index, MPI_Request request) { requests_[index] = request; }
  /// Tests all receives, and calls on_arrival() of the receivers whose messages have arrived.
  void test_all();
  /// The number of calls of test_all().
  [[nodiscard]] std::uint64_t tests() const noexcept { return tests_; }

 private:
  std::vector<message_receiver*> receivers_;
  std::vector<MPI_Request> requests_;  // indexed by receiver
  std::vector<int> complete_;
  std::vector<MPI_Status> statuses_;
  std::uint64_t tests_ = 0;
};

class message_receiver final : public channel_receiver {
 public:
  /// `pending` must outlive the object, and the object must not move.
  message_receiver(channel_end end, message_format format, std::byte* buffer, MPI_Comm comm,
                   int tag, pending_receives& pending);
  std::optional<std::span<const std::byte>> front() override;
  void release() override;
  /// Drops messages that have arrived. True if the sender has closed. Then no receive is posted any
  /// more.
  bool try_close();
  /// Called by pending_receives when the last piece of the next message has arrived.
  void on_arrival(const MPI_Status& status);

 private:
  void post(std::size_t slot);
  // Hands the last receive of slot_ to pending_.
  void await_slot();
  [[nodiscard]] MPI_Request* requests_of(std::size_t slot) noexcept {
    return requests_.data() + slot * format_.pieces;
  }

  message_format format_;
  std::byte* buffer_;
  MPI_Comm comm_;
  int tag_;
  pending_receives& pending_;
  std::size_t index_;  // in pending_
  // Indexed by slot, then by piece. The last request of slot_ is null here: pending_ has it.
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;  // of the pieces before the last
  std::size_t slots_, slot_ = 0;
  bool arrived_ = false, closed_ = false;
  std::size_t length_bytes_ = 0;
  std::uint64_t polled_at_ = 0;  // pending_.tests() at the last empty poll
};

}  // namespace longshore::mpi

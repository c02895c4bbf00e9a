// Channels between nodes: a slot is a posted message.
//
// The receiver keeps a receive posted for each free slot; the sender sends synchronously
// (MPI_Issend), so that a send is complete only when a slot took it. That is the whole flow
// control: at most `slots` messages wait unexpected per channel, held by their sender.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/mpi/call.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace longshore::mpi {

/// Bytes of buffer that one end needs. Throws errc::usage for a slot that MPI cannot send in one
/// message.
[[nodiscard]] std::size_t message_buffer_bytes(std::size_t slot_bytes, int slots);

class message_sender final : public channel_sender {
 public:
  /// `buffer`: message_buffer_bytes of memory that outlives the object.
  message_sender(channel_end end, int slots, std::byte* buffer, MPI_Comm comm, int tag);
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Tries to tell the receiver that nothing more comes, once. True when told and all sends are
  /// complete.
  bool try_close();

 private:
  [[nodiscard]] bool is_free(std::size_t slot);
  void send(std::size_t bytes);

  std::byte* buffer_;
  MPI_Comm comm_;
  int tag_;
  std::vector<MPI_Request> requests_;
  std::size_t slot_ = 0;
  bool close_sent_ = false;
};

class message_receiver;

/// The receives of all channels of one opening, looked at together: one call of MPI where each
/// receiver has been asked once. Asked one by one, a message that is not there costs a call each,
/// and on shared cores, where MPI gives the core away in such a call, a time slice.
class awaited_messages {
 public:
  /// The receiver must outlive the object; its place is the order of adding.
  std::size_t add(message_receiver& receiver);
  /// The receive of the next message of receiver `place`.
  void await(std::size_t place, MPI_Request request) { requests_[place] = request; }
  /// Looks, and tells the receivers of what has come.
  void look();
  [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }

 private:
  std::vector<message_receiver*> receivers_;
  std::vector<MPI_Request> requests_;  // by place
  std::vector<int> complete_;
  std::vector<MPI_Status> statuses_;
  std::uint64_t looks_ = 0;
};

class message_receiver final : public channel_receiver {
 public:
  /// `awaited` must outlive the object, and the object not move.
  message_receiver(channel_end end, int slots, std::byte* buffer, MPI_Comm comm, int tag,
                   awaited_messages& awaited);
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;
  /// Drops what arrives. True once the sender has closed; then no receive is posted any more.
  bool try_close();
  /// The awaited message is there; said by awaited_messages.
  void came(const MPI_Status& status);

 private:
  void post(std::size_t slot);

  std::byte* buffer_;
  MPI_Comm comm_;
  int tag_;
  awaited_messages& awaited_;
  std::size_t place_;                  // there
  std::vector<MPI_Request> requests_;  // by slot; that of slot_ is awaited, and null here
  std::size_t slot_ = 0;
  bool arrived_ = false, closed_ = false;
  int length_bytes_ = 0;
  std::uint64_t asked_at_ = 0;  // how often all had been looked at when this one was asked last
};

}  // namespace longshore::mpi

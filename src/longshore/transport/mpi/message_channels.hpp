// Channels between nodes: a slot is a posted message.
//
// The receiver keeps a receive posted for each free slot; the sender sends synchronously (MPI_Issend), so that a send is complete
// only when a slot took it. That is the whole flow control: at most `slots` messages wait unexpected per channel, held by their sender.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/mpi/call.hpp>

#include <cstddef>
#include <vector>

namespace longshore::mpi {

/// Bytes of buffer that one end needs. Throws errc::usage for a slot that MPI cannot send in one message.
[[nodiscard]] std::size_t message_buffer_bytes(std::size_t slot_bytes, int slots);

class message_sender final : public channel_sender {
 public:
  /// `buffer`: message_buffer_bytes of memory that outlives the object.
  message_sender(channel_end end, int slots, std::byte* buffer, MPI_Comm comm, int tag);
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Tries to tell the receiver that nothing more comes, once. True when told and all sends are complete.
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

class message_receiver final : public channel_receiver {
 public:
  message_receiver(channel_end end, int slots, std::byte* buffer, MPI_Comm comm, int tag);
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;
  /// Drops what arrives. True once the sender has closed; then no receive is posted any more.
  bool try_close();

 private:
  void post(std::size_t slot);

  std::byte* buffer_;
  MPI_Comm comm_;
  int tag_;
  std::vector<MPI_Request> requests_;
  std::size_t slot_ = 0;
  bool arrived_ = false, closed_ = false;
  int length_bytes_ = 0;
};

}  // namespace longshore::mpi

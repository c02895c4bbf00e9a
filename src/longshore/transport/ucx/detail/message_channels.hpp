// Channels between nodes by active messages of UCX, for networks without remote memory access
// (TCP). There a put of UCX takes three messages; an active message is a single message.
//
// The way of a message (channel.hpp):
//   - commit() sends the message in parts of at most 56 KiB. The header of a part names the
//     receiver, the slot and the offset.
//   - UCX calls active_messages::deliver at the receiver, which copies the part into the slot.
//     front() gives the slot when all parts have arrived.
//   - release() counts the message. This count is the credit. The credit waits for a message to the
//     sender's rank and travels in the header of that message (piggybacked), or is sent alone. So
//     an exchange in both directions costs one message per channel, not two.
//
// Cost: a header of 32 bytes for each part; a copy at the receiver, from the buffer of the network
// to the slot.
#pragma once

#include <longshore/transport/one_sided/detail/signal_channels.hpp>

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace longshore::ucx {

class library;
class message_sender;
class message_receiver;

/// The header of a part of a message. A header without data only carries a credit.
struct message_header {
  std::uint64_t total_bytes;  // length of the message
  std::uint64_t offset;       // of this part in the message
  std::uint32_t receiver;     // number of the receiving end; 0 if there is no message
  std::uint32_t slot;         // of the message, the same at sender and receiver
  std::uint32_t credited;     // number of the sending end that gets the credit; 0 if there is none
  std::uint32_t consumed;     // the credit: how many messages of that sending end were released
};

/// The active messages of a library. They address channel ends by number. Also holds the credits
/// that wait for a message to carry them.
class active_messages {
 public:
  explicit active_messages(library& lib);
  active_messages(const active_messages&) = delete;
  active_messages& operator=(const active_messages&) = delete;

  /// Return the new number of an end. Numbers are not reused, so that late messages find no end.
  [[nodiscard]] std::uint32_t add(message_sender& end);
  [[nodiscard]] std::uint32_t add(message_receiver& end);
  void remove(const message_sender& end);
  void remove(const message_receiver& end);

  /// Called when `end` has released a message. Sends the credit now, or defers it to the next
  /// message.
  void return_credit(message_receiver& end);
  /// Puts a deferred credit for `peer`, if there is one, into the header of a message to `peer`.
  void piggyback_credit(message_header& header, int peer);
  /// Called when a rank waits without progress. Sends deferred credits that have waited long
  /// enough.
  void on_idle();
  /// Sends `header` and `bytes` bytes from `from`. Header and bytes must stay until the message has
  /// left.
  void send(int peer, const message_header* header, const std::byte* from, std::size_t bytes);
  /// Whether rendezvous messages are in flight. UCX fetches the data of such a message when the
  /// receiver is ready.
  [[nodiscard]] bool is_sending() const noexcept { return sends_ > 0; }
  [[nodiscard]] bool is_receiving() const noexcept { return receives_ > 0; }
  /// Keeps the headers of a destroyed sender until its last messages have left.
  void keep(std::vector<message_header> headers) { kept_headers_.push_back(std::move(headers)); }
  /// Called after a flush. Then all messages except rendezvous messages have left.
  void on_flushed() noexcept {
    if (!is_sending()) kept_headers_.clear();
  }
  /// Throws if a message could not be received.
  void check() const {
    if (failure_ != UCS_OK) fail_receiving();
  }
  /// The greatest length of a part of a message.
  [[nodiscard]] std::size_t part_bytes() const noexcept { return part_bytes_; }

 private:
  struct rendezvous;
  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes,
                                 void* data, std::size_t bytes, const ucp_am_recv_param_t* params);
  ucs_status_t deliver(const message_header& header, void* data, std::size_t bytes,
                       bool is_rendezvous);
  ucs_status_t deliver_rendezvous(message_receiver& end, std::uint32_t slot, std::byte* to,
                                  void* data, std::size_t bytes);
  void send_credit(message_receiver& end);
  [[noreturn]] void fail_receiving() const;

  library& library_;
  std::size_t part_bytes_;
  std::uint32_t send_flags_;
  std::uint32_t last_number_ = 0;
  std::size_t sends_ = 0, receives_ = 0;
  ucs_status_t failure_ = UCS_OK;  // of a receive
  int failed_peer_ = -1;           // the sender of that message
  std::unordered_map<std::uint32_t, message_sender*> senders_;
  std::unordered_map<std::uint32_t, message_receiver*> receivers_;
  std::vector<message_receiver*> deferred_;  // with credits that wait for a message
  std::vector<std::vector<message_header>> kept_headers_;
  // Indexed by peer: the receiver whose credit was sent alone, until a message to the peer follows.
  std::unordered_map<int, message_receiver*> last_sent_alone_;
  unsigned idle_polls_ = 0;
};

/// The slots of a channel end in a region. They outlive the end.
struct region_slots {
  region_slots(const channel_end& end, one_sided::region& memory, std::size_t offset)
      : slots(end.slots) {
    const one_sided::signal_layout layout(end.slot_bytes, end.slots);
    begin = memory.local() + offset + layout.slots_offset;
    stride_bytes = layout.slot_stride;
  }
  int slots;
  std::byte* begin;
  std::size_t stride_bytes;
};

class message_sender final : public one_sided::message_channel_sender {
 public:
  message_sender(channel_end end, region_slots memory, active_messages& messages, library& lib);
  ~message_sender() override;
  message_sender(const message_sender&) = delete;
  message_sender& operator=(const message_sender&) = delete;

  std::uint32_t number() const noexcept override { return number_; }
  void connect(std::uint32_t receiver) noexcept override { receiver_ = receiver; }
  std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Takes a credit. Credits may overtake each other, so an older credit is ignored.
  void take_credit(std::uint32_t consumed) noexcept {
    if (static_cast<std::int32_t>(consumed - consumed_) > 0) consumed_ = consumed;
  }

 private:
  active_messages& messages_;
  library& library_;
  region_slots memory_;
  std::size_t parts_;                    // of the longest message
  std::vector<message_header> headers_;  // indexed by slot * parts_ + part
  std::uint32_t slots_, number_, receiver_ = 0, produced_ = 0, consumed_ = 0, slot_ = 0;
  int unwinding_;
};

class message_receiver final : public one_sided::message_channel_receiver {
 public:
  message_receiver(channel_end end, region_slots memory, active_messages& messages, library& lib);
  ~message_receiver() override { messages_.remove(*this); }
  message_receiver(const message_receiver&) = delete;
  message_receiver& operator=(const message_receiver&) = delete;

  std::uint32_t number() const noexcept override { return number_; }
  void connect(std::uint32_t sender) noexcept override { sender_ = sender; }
  std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  friend class active_messages;
  /// How much of a slot's message has arrived.
  struct arrival {
    std::uint64_t length_bytes = 0, missing_bytes = 0;
    bool began = false;
    [[nodiscard]] bool is_complete() const noexcept { return began && missing_bytes == 0; }
  };
  [[nodiscard]] std::byte* slot_memory(std::uint32_t slot) const noexcept {
    return memory_.begin + slot * memory_.stride_bytes;
  }

  active_messages& messages_;
  library& library_;
  region_slots memory_;
  // Indexed by slot. Shared, because rendezvous messages may outlive this receiver.
  std::shared_ptr<std::vector<arrival>> arrivals_;
  std::uint32_t slots_, number_, sender_ = 0, consumed_ = 0, credit_sent_ = 0, slot_ = 0;
  bool is_deferred_ = false;     // this receiver is in active_messages::deferred_
  bool piggybacks_soon_ = true;  // a message could have carried the last credit
};

}  // namespace longshore::ucx

// Channels by active messages, for networks that reach no memory by themselves (TCP): there UCX
// makes of a put a message, its answer and its confirmation, while an active message is one. The
// receiver's slots bound what is under way. Credits go back with messages of the other direction
// where there are any, alone where not: an exchange costs one message per channel, not two.
//
// Cost: one message of 32 bytes and the data per 56 KiB begun; a copy at the receiver, from the
// network's buffer to the slot.
#pragma once

#include <longshore/transport/one_sided/library.hpp>

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

/// What goes before the data of a part of a message, and alone where there is only a credit to
/// give.
struct message_head {
  std::uint64_t total_bytes, offset;  // of the message; of this part in it
  std::uint32_t receiver;             // number of the receiving end there; 0: no message
  std::uint32_t slot;                 // of the message, on both sides
  std::uint32_t credited,
      // number of the sending end there, 0: none; how many of its messages have been taken
      consumed;
};

/// All message channels of a library: their ends by number, and the credits that wait for a message
/// to go with.
class message_board {
 public:
  explicit message_board(library& lib);
  message_board(const message_board&) = delete;
  message_board& operator=(const message_board&) = delete;

  /// Numbers are not used again, so that what comes late finds nobody.
  [[nodiscard]] std::uint32_t add(message_sender& end);
  [[nodiscard]] std::uint32_t add(message_receiver& end);
  void remove(std::uint32_t number, message_receiver* end);

  /// `end` has taken a message: says so now, or with the next message to its peer.
  void owe(message_receiver& end);
  /// Called by those who send to `peer`: a credit goes with `head`, if one waits.
  void load(message_head& head, int peer);
  /// Called when a rank waits and nothing moves: credits do not wait for ever.
  void idle();
  /// Sends `bytes` from `from` behind `head`, which stays where it is until the message has left.
  void send(int peer, const message_head* head, const std::byte* from, std::size_t bytes);
  /// Messages that UCX fetches when the receiver is ready, and which have not all left, or arrived.
  [[nodiscard]] bool is_sending() const noexcept { return sends_ > 0; }
  [[nodiscard]] bool is_receiving() const noexcept { return receives_ > 0; }
  /// What a sender leaves behind from which messages may still be leaving: kept until all have
  /// left.
  void keep(std::vector<message_head> heads) { kept_.push_back(std::move(heads)); }
  /// Called when all that was sent has left, but for what receivers fetch.
  void all_have_left() noexcept {
    if (!is_sending()) kept_.clear();
  }
  /// Throws when a message could not be received.
  void check() const {
    if (failure_ != UCS_OK) fail_receiving();
  }
  /// Parts of a message are at most so long.
  [[nodiscard]] std::size_t part_bytes() const noexcept { return part_bytes_; }

 private:
  struct rendezvous;
  static ucs_status_t came(void* board, const void* head, std::size_t head_bytes, void* data,
                           std::size_t bytes, const ucp_am_recv_param_t* how);
  ucs_status_t take(const message_head& head, void* data, std::size_t bytes, bool is_rendezvous);
  void tell(message_receiver& end);
  [[noreturn]] void fail_receiving() const;

  library& library_;
  std::size_t part_bytes_;
  std::uint32_t send_flags_;
  std::uint32_t last_number_ = 0;
  std::size_t sends_ = 0, receives_ = 0;
  ucs_status_t failure_ = UCS_OK;  // of a receive; whose message is known
  int failed_peer_ = -1;
  std::unordered_map<std::uint32_t, message_sender*> senders_;
  std::unordered_map<std::uint32_t, message_receiver*> receivers_;
  std::vector<message_receiver*> owing_;
  std::vector<std::vector<message_head>> kept_;
  // by peer: whose credit went alone, and nothing since
  std::unordered_map<int, message_receiver*> last_told_;
  unsigned idle_turns_ = 0;
};

class message_sender final : public one_sided::message_channel_sender {
 public:
  message_sender(channel_end end, one_sided::slot_memory memory, message_board& board,
                 library& lib);
  ~message_sender() override;
  message_sender(const message_sender&) = delete;
  message_sender& operator=(const message_sender&) = delete;

  [[nodiscard]] std::uint32_t number() const noexcept override { return number_; }
  void connect(std::uint32_t receiver) noexcept override { receiver_ = receiver; }
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Credits may overtake each other: an older one says nothing.
  void credit(std::uint32_t consumed) noexcept {
    if (static_cast<std::int32_t>(consumed - consumed_) > 0) consumed_ = consumed;
  }

 private:
  message_board& board_;
  library& library_;
  one_sided::slot_memory memory_;
  std::size_t parts_;                // of the longest message
  std::vector<message_head> heads_;  // by slot and part
  std::uint32_t slots_, number_, receiver_ = 0, produced_ = 0, consumed_ = 0, slot_ = 0;
  int unwinding_;
};

class message_receiver final : public one_sided::message_channel_receiver {
 public:
  message_receiver(channel_end end, one_sided::slot_memory memory, message_board& board,
                   library& lib);
  ~message_receiver() override { board_.remove(number_, this); }
  message_receiver(const message_receiver&) = delete;
  message_receiver& operator=(const message_receiver&) = delete;

  [[nodiscard]] std::uint32_t number() const noexcept override { return number_; }
  void connect(std::uint32_t sender) noexcept override { sender_ = sender; }
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  friend class message_board;
  /// Of each slot: how much of its message is there. Shared with what still arrives when this end
  /// is gone.
  struct arrival {
    std::uint64_t length_bytes = 0, missing_bytes = 0;
    bool began = false;
    [[nodiscard]] bool is_whole() const noexcept { return began && missing_bytes == 0; }
  };
  [[nodiscard]] std::byte* slot_memory(std::uint32_t slot) const noexcept {
    return memory_.begin + slot * memory_.stride_bytes;
  }

  message_board& board_;
  library& library_;
  one_sided::slot_memory memory_;
  std::shared_ptr<std::vector<arrival>> arrivals_;
  std::uint32_t slots_, number_, sender_ = 0, consumed_ = 0, told_ = 0, slot_ = 0;
  bool owes_ = false;       // stands in the board's list
  bool rides_soon_ = true;  // the last credit found a message to go with
};

}  // namespace longshore::ucx

// Mode channel: the sender packs straight into the slot of a channel, the receiver unpacks from it; what a rank sends to itself
// is copied without a message.
//
// Large messages that need no packing and lie in memory that the receiver can read are lent instead: the channel carries their
// address, the receiver copies them from where they lie to where they belong, and the sender's wait() ends when they are
// returned. One copy, as in the rendezvous of MPI libraries, but without the kernel's help.
//
// Cost: one channel per leg with a message, of two slots: a rank may begin an exchange while its neighbours are still in the one
// before, and where memory is shared each byte is copied twice (into the slot, out of it). Lent: one copy, and neighbours go in
// step. Memory per rank: 2 x the bytes that it sends (between nodes, 2 x those it receives as well); nothing for what is lent.
#pragma once

#include <longshore/halo/mode.hpp>
#include <longshore/halo/packed_message.hpp>
#include <longshore/transport/channel.hpp>

#include <memory>
#include <vector>

namespace longshore {

class channel_carrier final : public message_carrier {
 public:
  /// Collective. `readable`: null, or where all outgoing messages lie.
  channel_carrier(team& team, const halo_round& round, halo_delivery delivery, const segment* readable);

  void start() override;
  [[nodiscard]] bool test() override { return progress(); }
  void wait() override;
  [[nodiscard]] const std::byte* received(std::size_t leg) const override { return received_[leg]; }
  [[nodiscard]] traffic moved() const override { return moved_; }

 private:
  struct outgoing {
    packed_message message;
    channel_sender* channel;
  };
  struct lent {
    std::uint64_t offset;  // in the readable segment
    channel_sender* channel;
  };
  struct incoming {
    packed_message message;
    channel_receiver* channel;
    std::size_t leg;
    const std::byte* lender;  // the sender's part of the readable segment, when the message is borrowed
  };
  struct self_copy {
    std::byte* to;
    const std::byte* from;
    strided_copy copy;
  };

  void copy_to_self(const halo_leg& leg, std::size_t index);
  void release_kept();
  /// Each sends, receives or takes back what it can now.
  void send();
  void receive();
  bool is_all_returned();
  bool progress();
  [[nodiscard]] int awaited_peer() const;

  team& team_;
  halo_delivery delivery_;
  std::unique_ptr<channel_set> channels_, loans_;
  std::vector<outgoing> outgoing_;
  std::vector<lent> lent_;
  std::vector<incoming> incoming_;
  std::vector<self_copy> self_;
  std::size_t sent_ = 0, returned_ = 0;     // of outgoing_ and lent_, in this exchange
  std::vector<std::size_t> pending_;        // indices into incoming_
  bool keeps_slots_ = false;                // received in place, not yet released
  std::vector<const std::byte*> received_;  // by leg
  traffic moved_;
};

}  // namespace longshore

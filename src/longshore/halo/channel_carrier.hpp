// Mode channel: the sender packs straight into the slot of a channel, the receiver unpacks from it; what a rank sends to itself
// is copied without a message.
//
// Cost: one channel of two slots per leg with a message. Where memory is shared each byte is copied twice (into the slot, out
// of it) and no rank waits for another but for its data: with two slots a rank may begin an exchange while its neighbours are
// still in the one before. Memory per rank: 2 x the bytes that it sends (between nodes, 2 x those it receives as well).
#pragma once

#include <longshore/halo/mode.hpp>
#include <longshore/halo/packed_message.hpp>
#include <longshore/transport/channel.hpp>

#include <memory>
#include <vector>

namespace longshore {

class channel_carrier final : public message_carrier {
 public:
  /// Collective.
  channel_carrier(team& team, halo_round round, halo_delivery delivery);

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
  struct incoming {
    packed_message message;
    channel_receiver* channel;
    std::size_t leg;
  };
  struct self_copy {
    std::byte* to;
    const std::byte* from;
    strided_copy copy;
  };

  void copy_to_self(const halo_leg& leg, std::size_t index);
  void release_kept();
  /// Sends and receives what is possible now; true when nothing is left to do.
  bool progress();

  team& team_;
  halo_delivery delivery_;
  std::unique_ptr<channel_set> channels_;
  std::vector<outgoing> outgoing_;
  std::vector<incoming> incoming_;
  std::vector<self_copy> self_;
  std::size_t sent_ = 0;                    // of outgoing_, in this exchange
  std::vector<std::size_t> pending_;        // indices into incoming_
  bool keeps_slots_ = false;                // received in place, not yet released
  std::vector<const std::byte*> received_;  // by leg
  traffic moved_;
};

}  // namespace longshore

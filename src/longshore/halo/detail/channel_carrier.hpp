// Messages in the slots of channels: the sender packs straight into a slot, the receiver unpacks
// from it.
//
// Small messages to the same neighbour on another node, on both sides of this rank or through edges
// and corners, go as one.
//
// Cost: at most one channel per leg with a message, of two slots: a rank may begin an exchange
// while its neighbours are still in the one before, and where memory is shared each byte is copied
// twice (into the slot, out of it). Memory per rank: 2 x the bytes that it sends (between nodes, 2
// x those it receives as well).
#pragma once

#include <longshore/halo/detail/packed_message.hpp>
#include <longshore/halo/detail/polled_carrier.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/transport/channel.hpp>

#include <memory>
#include <vector>

namespace longshore::detail {

class channel_carrier final : public polled_carrier {
 public:
  /// Collective. No message of the round may be to the rank itself.
  channel_carrier(team& team, const halo_round& round, const carrier_options& options);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t missing() const override { return pending_.size(); }
  [[nodiscard]] std::size_t untaken() const override { return outgoing_.size() - sent_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t leg) const override { return received_[leg]; }
  [[nodiscard]] traffic moved() const override { return moved_; }

 private:
  struct outgoing {
    int peer;
    packed_message message;
    channel_sender* channel;
  };
  struct incoming {
    int peer;
    packed_message message;
    channel_receiver* channel;
    std::size_t leg;  // its own one, where it stays in the slot
  };

  void release_kept();
  /// Each sends, or receives, what it can now.
  void send();
  void receive();

  halo_delivery delivery_;
  tasks* workers_;
  std::unique_ptr<channel_set> channels_;
  std::vector<outgoing> outgoing_;
  std::vector<incoming> incoming_;
  std::size_t sent_ = 0;                    // of outgoing_, in this exchange
  std::vector<std::size_t> pending_;        // indices into incoming_
  bool keeps_slots_ = false;                // received in place, not yet released
  std::vector<const std::byte*> received_;  // by leg
  traffic moved_;
};

}  // namespace longshore::detail

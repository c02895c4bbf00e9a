// Transfers messages through the slots of channels: the sender packs into a slot, and the receiver
// unpacks from it. Small messages to the same neighbour on another node, in any direction,
// travel as one.
//
// Cost: at most one channel of two slots per message. With two slots a rank may begin an exchange
// while its neighbours are still in the one before. If memory is shared, each byte is copied twice
// (into the slot and out of it). Memory per rank: 2 x the bytes that it sends; between nodes also 2
// x the bytes that it receives.
#pragma once

#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/halo/detail/backends/polled_backend.hpp>
#include <longshore/halo/detail/copy/packed_message.hpp>
#include <longshore/transport/channel.hpp>

#include <memory>
#include <vector>

namespace longshore::detail {

class channel_backend final : public polled_backend {
 public:
  /// Collective. REQUIRES: no message of a rank to itself.
  channel_backend(team& team, const halo_round& round, const backend_options& options);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return pending_.size(); }
  [[nodiscard]] std::size_t pending_sends() const override { return outgoing_.size() - sent_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
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
    std::size_t pair;  // for delivery in place
  };

  void release_kept_slots();
  /// Sends, and receives, as many messages as is possible now.
  void send();
  void receive();

  halo_delivery delivery_;
  tasks* workers_;
  std::unique_ptr<channel_set> channels_;
  std::vector<outgoing> outgoing_;
  std::vector<incoming> incoming_;
  std::size_t sent_ = 0;                    // of outgoing_, in this exchange
  std::vector<std::size_t> pending_;        // indices into incoming_
  bool keeps_slots_ = false;                // messages delivered in place are not released yet
  std::vector<const std::byte*> received_;  // by pair
  traffic moved_;
};

}  // namespace longshore::detail

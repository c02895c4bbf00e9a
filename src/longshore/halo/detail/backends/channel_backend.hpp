// Transfers messages through the slots of channels: the sender packs into a slot, and the receiver
// unpacks from the slot. Small messages to the same neighbour on another node, in any direction,
// are joined to one message.
//
// Cost: at most one channel of two slots per message. With two slots a rank may begin an exchange
// while its neighbours are still in the exchange before. If memory is shared, each byte is copied
// twice: into the slot and out of the slot. Memory per rank: twice the bytes that the rank sends;
// between nodes also twice the bytes that the rank receives.
#pragma once

#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/halo/detail/copy/packed_message.hpp>
#include <longshore/transport/channel.hpp>

#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

class channel_backend final : public polled_backend {
 public:
  /// Collective. REQUIRES: no message of a rank to itself. `far_peers` are the ranks of the node
  /// whose caches are far from those of this rank (neighbour_handshake), in ascending order.
  channel_backend(team& team, const halo_round& round, const backend_options& options,
                  std::span<const int> far_peers);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return pending_.size(); }
  [[nodiscard]] std::size_t pending_sends() const override { return outgoing_.size() - sent_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] halo_transfers transfers() const override {
    return {.channels = moved_.payload_bytes};
  }

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
    std::size_t pair;  // index of the message pair, for delivery in_place
  };

  void release_kept_slots();
  /// Sends messages until a channel has no free slot.
  void send();
  /// Receives all messages that have arrived.
  void receive();

  team& team_;
  halo_delivery delivery_;
  tasks* workers_;
  std::size_t touched_bytes_;
  std::unique_ptr<channel_set> channels_;
  std::vector<outgoing> outgoing_;
  std::vector<incoming> incoming_;
  std::size_t sent_ = 0;                    // messages of outgoing_ sent in this exchange
  std::vector<std::size_t> pending_;        // indices of incoming_ that have not arrived
  bool keeps_slots_ = false;                // messages delivered in_place still occupy their slots
  std::vector<const std::byte*> received_;  // indexed by message pair
  traffic moved_;
};

}  // namespace longshore::detail

// The mover of the strategies that use channels and direct reads. If two ranks of a node can map
// each other's memory, the receiver reads messages from the memory of their sender, by one copy. Two
// signals per round say that the message may be read, and that it was read (direct_signals.hpp). Any other
// message is packed. Between nodes it is packed into the buffer of a request if the transport has
// posted messages. Otherwise it is packed into the slot of a channel.
//
// Memory per rank: a buffer per posted message at both ends, and two slots per channel.
#pragma once

#include <longshore/exchange/detail/movers/direct_peers.hpp>
#include <longshore/exchange/detail/movers/mover.hpp>
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/transport/channel.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace longshore::detail {

class link_mover final : public mover {
 public:
  /// Local. The round has number `number` in the plan. `peers` is null if no message is read
  /// directly.
  link_mover(const mover_context& context, const exchange_round& round, direct_peers* peers,
             std::size_t number);
  static constexpr int slots_per_channel = 2;
  /// Adds the ends of the channels that the round needs.
  void add_channels(std::vector<channel_end>& to, std::vector<channel_end>& from) const;
  /// Takes the channels of these ends: the next ones of `set` from `sender` and `receiver` on.
  /// Advances both numbers.
  void take_channels(channel_set& set, std::size_t& sender, std::size_t& receiver);

  void start(std::span<const combiner> combiners) override;
  void progress() override;
  [[nodiscard]] bool has_arrived() const override { return store_.unfinished() == 0; }
  [[nodiscard]] bool is_done() const override {
    return has_arrived() && next_sent_ == sent_.size() && pending_lent_.empty() &&
           (posted_ == nullptr || posted_->is_done());
  }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] std::size_t memory_bytes() const override;
  void rebind() override { store_.rebind(); }

 private:
  struct sent_message {
    int peer;
    message_packer message;
    channel_sender* channel;
  };
  struct received_message {
    int peer;
    std::size_t number;  // in store_
    channel_receiver* channel;
  };
  // The messages of posted_, in its order.
  struct posted_outgoing {
    int peer;
    message_packer message;
  };
  struct posted_incoming {
    int peer;
    std::size_t number;  // in store_
  };
  // A peer that reads messages from the memory of this rank.
  struct lent_messages {
    int peer;
    direct_signals *from_peer, *to_peer;
  };
  // The messages that this rank reads from the memory of a peer.
  struct read_messages {
    int peer;
    direct_signals *from_peer, *to_peer;
    std::vector<std::size_t> numbers;  // in store_
    std::size_t missing;               // messages that are not stored yet
  };
  void send();
  void finish(std::size_t message);
  void post();

  const mover_context& context_;
  direct_peers* peers_;
  std::size_t number_;  // of the round
  message_store store_;
  std::vector<sent_message> sent_;
  std::vector<received_message> received_;
  std::vector<lent_messages> lent_;
  std::vector<read_messages> read_;
  std::vector<std::size_t> own_;  // numbers of messages of this rank to itself
  // How each message of the store arrives, and its index in read_ or received_.
  enum class way { own, read, received, posted };
  struct link {
    way by;
    std::size_t index;
  };
  std::vector<link> link_of_;
  std::vector<posted_outgoing> posted_outgoing_;
  std::vector<posted_incoming> posted_incoming_;
  std::unique_ptr<posted_messages> posted_;
  std::vector<std::size_t> arrived_;  // numbers of posted_incoming_
  std::uint64_t exchange_ = 0;
  std::size_t next_sent_ = 0;
  std::vector<std::size_t> pending_received_, pending_lent_, pending_read_;
  traffic moved_;
};

}  // namespace longshore::detail

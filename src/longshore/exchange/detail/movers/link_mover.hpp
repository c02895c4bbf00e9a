// The mover of the carriers `channels` and `direct`. If two ranks of a node can map each other's
// memory, the receiver reads messages from the memory of their sender, by one copy. Two signals per
// round say that the messages may be read, and that they were read (direct_signals.hpp). Any other
// message is packed. Between nodes it is packed into the buffer of a request if the transport has
// posted messages. Otherwise it is packed into the slot of a channel.
//
// Memory per rank: a buffer per posted message at both ends, and two slots per channel. The rounds of
// a plan share their channels.
#pragma once

#include <longshore/exchange/detail/movers/direct_peers.hpp>
#include <longshore/exchange/detail/movers/mover.hpp>
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/transport/channel.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace longshore::detail {

/// The channels of a plan in one direction. All rounds and programs share them: the j-th message of
/// a round to a rank takes the j-th channel. A round begins when the round before has sent all of its
/// messages, so that the messages of a channel are in the order of rounds.
class shared_channels {
 public:
  /// Makes channel `number` with `peer` large enough.
  void add(int peer, std::size_t number, std::size_t bytes) {
    auto& sizes = bytes_[peer];
    sizes.resize(std::max(sizes.size(), number + 1));
    sizes[number] = std::max(sizes[number], bytes);
  }
  /// In the order of peers and numbers.
  [[nodiscard]] std::vector<channel_end> ends() const {
    std::vector<channel_end> ends;
    for (const auto& [peer, sizes] : bytes_)
      for (const auto bytes : sizes) ends.push_back({peer, bytes});
    return ends;
  }
  /// The place of a channel in ends().
  [[nodiscard]] std::size_t index(int peer, std::size_t number) const {
    std::size_t before = 0;
    for (const auto& [other, sizes] : bytes_)
      if (other < peer) before += sizes.size();
    return before + number;
  }

 private:
  std::map<int, std::vector<std::size_t>> bytes_;
};

class link_mover final : public mover {
 public:
  /// Local. The round has number `number` in the plan. `peers` is null if no message is read
  /// directly. Before the first exchange, call take_channels() if there are channels, and post() if
  /// there are posted messages.
  link_mover(const mover_context& context, const exchange_round& round, direct_peers* peers,
             std::size_t number);
  static constexpr int slots_per_channel = 2;
  /// Adds the ends of the channels that the round needs.
  void add_channels(shared_channels& to, shared_channels& from) const;
  /// Takes its channels from the set of all channels of the plan.
  void take_channels(channel_set& set, const shared_channels& to, const shared_channels& from);
  /// The ends of the messages that are posted.
  struct posted_ends {
    std::vector<posted_end> to, from;
  };
  [[nodiscard]] posted_ends ends() const;
  /// Makes the posted messages, in pieces of `piece_bytes`.
  void post(std::size_t piece_bytes);
  /// The bytes of incoming message `i` of the round. They stay in their slot until the next
  /// exchange. Null if the message is not kept.
  [[nodiscard]] const std::byte* kept(std::size_t i) const;

  void start(std::span<const combiner> combiners) override;
  void progress() override;
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] std::size_t pending() const override {
    return store_.unfinished() + sent_.size() - next_sent_ + pending_lent_.size() +
           (posted_ != nullptr ? posted_->pending_sends() : 0);
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] exchange_transfers transfers() const override { return transfers_; }
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
  // The messages of posted_, in its order. Contiguous messages are not packed.
  struct posted_outgoing {
    int peer;
    message_packer message;
    std::byte* in_place;
  };
  struct posted_incoming {
    int peer;
    std::size_t number;  // in store_
    std::byte* in_place;
  };
  // The messages that this rank reads from the memory of a peer, as one message of the store.
  struct read_messages : peer_link {
    std::size_t number;  // in store_
  };
  void add_outgoing(const outgoing_message& out);
  void add_incoming(const incoming_message& in);
  void send();
  void set_state() noexcept {
    has_arrived_ = store_.unfinished() == 0;
    has_sent_ = next_sent_ == sent_.size();
    is_done_ = has_arrived_ && has_sent_ && pending_lent_.empty() &&
               (posted_ == nullptr || posted_->is_done());
  }
  void finish(std::size_t message);

  const mover_context& context_;
  direct_peers* peers_;
  std::size_t round_;  // its number in the plan
  message_store store_;
  std::vector<sent_message> sent_;
  std::vector<received_message> received_;
  std::vector<peer_link> lent_;
  std::vector<read_messages> read_;
  std::optional<std::size_t> message_to_self_;  // its number in store_
  // How each message of the store arrives, and its index in read_ or received_.
  enum class way { own, read, received, posted };
  struct link {
    way by;
    std::size_t index;
  };
  std::vector<link> link_of_;
  std::vector<std::size_t> number_of_;  // in store_, indexed by incoming message of the round
  std::vector<posted_outgoing> posted_outgoing_;
  std::vector<posted_incoming> posted_incoming_;
  std::unique_ptr<posted_messages> posted_;
  std::vector<std::size_t> arrived_;  // numbers of posted_incoming_
  std::uint64_t exchange_ = 0;
  std::size_t next_sent_ = 0;
  std::vector<std::size_t> pending_received_, pending_lent_, still_to_read_;
  bool has_kept_slots_ = false;
  traffic moved_;
  exchange_transfers transfers_;
};

}  // namespace longshore::detail

// The exchanges sendrecv and channel: blocks travel as messages of up to 32 KiB on channels.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/sort/detail/message_streams.hpp>

namespace longshore::detail {

class message_exchange final : public block_exchange {
 public:
  using send_order = message_streams::send_order;

  /// `order`: target_by_target for sendrecv; interleaved for channel, which also calls `arrived`.
  message_exchange(team& team, std::size_t item_bytes, std::vector<int> targets, send_order order)
      : block_exchange(team, item_bytes),
        order_(order),
        streams_(team, targets, sources_of(team), item_bytes) {}

 private:
  static std::vector<int> sources_of(const team& team) {
    std::vector<int> sources;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank()) sources.push_back(rank);
    return sources;
  }
  std::byte* grow_incoming(std::size_t bytes, std::size_t) override { return buffer_.grow(bytes); }
  void prepare_transfer(const block_counts& counts) override {
    streams_.make_room(counts.max_block * item_bytes_);
  }
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override {
    const bool notifies = order_ == send_order::interleaved && arrived;
    for (std::size_t k = 0; k < streams_.to().size(); ++k) {
      const int target = streams_.to()[k];
      streams_.outgoing(k).push_back({outgoing + outgoing_starts_[target], bytes_to(target)});
    }
    for (std::size_t k = 0; k < streams_.from().size(); ++k) {
      const int source = streams_.from()[k];
      streams_.incoming(k).push_back({incoming_ + incoming_starts_[source], bytes_from(source)});
    }
    copy_own_block(outgoing, notifies ? arrived : nullptr);
    std::function<void(std::byte*, std::size_t)> received;
    if (notifies)
      received = [&](const std::byte* data, std::size_t bytes) {
        arrived(static_cast<std::size_t>(data - incoming_) / item_bytes_, bytes / item_bytes_);
      };
    streams_.run(
        order_, [this](int target, std::size_t bytes) { count_message(target, bytes); }, received);
  }

  send_order order_;
  growable_buffer buffer_;
  message_streams streams_;
};

}  // namespace longshore::detail

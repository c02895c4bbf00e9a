// The exchanges sendrecv and channel: blocks cut into messages on channels, received in place.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/piece_streams.hpp>
#include <longshore/sort/detail/room.hpp>

namespace longshore::detail {

class message_exchange final : public block_exchange {
 public:
  /// `pipelined` (channel): all targets are served by turns, and what comes is worked on at once.
  message_exchange(team& team, std::size_t item_bytes, std::vector<int> targets, bool pipelined)
      : block_exchange(team, item_bytes),
        pipelined_(pipelined),
        streams_(team, targets, sources_of(team), item_bytes) {}

 private:
  static std::vector<int> sources_of(const team& team) {
    std::vector<int> sources;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank()) sources.push_back(rank);
    return sources;
  }
  std::byte* make_room(std::size_t bytes, std::size_t) override { return room_.grow(bytes); }
  void agree(const block_counts&) override {}
  void move(const std::byte* outgoing, const arrival& arrived) override {
    const bool works = pipelined_ && arrived;
    for (std::size_t k = 0; k < streams_.to().size(); ++k) {
      const int target = streams_.to()[k];
      streams_.outgoing(k).push_back({outgoing + out_[target], bytes_to(target)});
    }
    for (std::size_t k = 0; k < streams_.from().size(); ++k) {
      const int source = streams_.from()[k];
      streams_.incoming(k).push_back({incoming_ + in_[source], bytes_from(source)});
    }
    copy_own_block(outgoing, works ? arrived : nullptr);
    std::function<void(std::byte*, std::size_t)> came;
    if (works)
      came = [&](const std::byte* data, std::size_t bytes) {
        arrived(static_cast<std::size_t>(data - incoming_) / item_bytes_, bytes / item_bytes_);
      };
    streams_.run(
        pipelined_ ? piece_streams::turns::all_targets : piece_streams::turns::one_target,
        [this](int target, std::size_t bytes) { count_message(target, bytes); }, came);
  }

  bool pipelined_;
  private_room room_;
  piece_streams streams_;
};

}  // namespace longshore::detail

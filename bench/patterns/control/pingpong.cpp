// Kernel pingpong over a channel. The ping-pong by raw calls of a library is in put.cpp.
#include "patterns/control/pingpong.hpp"

#include <longshore/transport/waiter.hpp>

namespace longshore::bench {
namespace {

// Messages over a channel.
class channel_transfer {
 public:
  static constexpr std::size_t head_bytes = 0;

  channel_transfer(team& ranks, int peer, std::size_t bytes, bool takes_part)
      : team_(ranks), peer_(peer) {
    std::vector<channel_end> ends;
    if (takes_part) ends.push_back({peer, bytes});
    channels_ = ranks.open_channels(ends, ends, slots);
  }
  [[nodiscard]] std::byte* begin() {
    std::byte* slot = nullptr;
    for (waiter wait(team_, "a free slot of the ping-pong", peer_);
         (slot = channels_->sender(0).reserve()) == nullptr; wait.pause()) {
    }
    return slot;
  }
  void send(std::size_t bytes) { channels_->sender(0).commit(bytes); }
  [[nodiscard]] std::span<const std::byte> receive() {
    std::optional<std::span<const std::byte>> message;
    for (waiter wait(team_, "the ping-pong", peer_); !(message = channels_->receiver(0).front());
         wait.pause()) {
    }
    return *message;
  }
  void release() { channels_->receiver(0).release(); }

 private:
  static constexpr int slots = 2;
  team& team_;
  int peer_;
  std::unique_ptr<channel_set> channels_;
};

}  // namespace

std::unique_ptr<measurement> make_channel_pingpong(team& ranks, std::size_t bytes) {
  return std::make_unique<pingpong<channel_transfer>>(ranks, bytes);
}

}  // namespace longshore::bench

// Kernel pingpong: a message from rank 0 to the last rank and back, over a channel or by raw calls of
// a library. All other ranks do nothing.
//
// Every transfer does the same work: the sender writes the whole message once to the memory from
// which it is sent (a slot of a channel, the source of a put), and the receiver reads the message
// once from the memory in which it arrives (a slot, the destination of a put).
#include "patterns/control/kernels.hpp"

#include <longshore/core/random.hpp>
#include <longshore/transport/launch/raw_calls_of.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace longshore::bench {
namespace {

// All ranks construct a `Transfer` of (team, peer, bytes, whether this rank takes part). begin()
// returns the memory for the next message, and send(bytes) sends this message. receive() waits for
// a message and returns it, and release() ends its use. On the wire every message has
// Transfer::head_bytes more.
template <class Transfer>
class pingpong final : public measurement {
 public:
  pingpong(team& ranks, std::size_t bytes)
      : team_(ranks),
        last_(ranks.size() - 1),
        peer_(ranks.rank() == 0 ? last_ : 0),
        outgoing_(bytes),
        incoming_(bytes),
        transfer_(ranks, peer_, bytes, takes_part()) {
    for (std::size_t i = 0; i < bytes; ++i) outgoing_[i] = static_cast<std::byte>(mix_bits(i));
  }

  void run() override {
    if (!takes_part()) return;
    if (team_.rank() == 0) {
      send(++count_);
      is_right_ = receive() == ~count_ && is_right_;
    } else {
      const std::uint64_t count = receive();
      is_right_ = count == ++count_ && is_right_;
      send(~count);
    }
  }
  [[nodiscard]] bool verify() override {
    if (!takes_part()) return true;
    return is_right_ && count_ > 0 &&
           std::equal(incoming_.begin() + pingpong_bytes, incoming_.end(),
                      outgoing_.begin() + pingpong_bytes);
  }
  [[nodiscard]] traffic moved() const override {
    if (!takes_part()) return {};
    const std::size_t wire_bytes = outgoing_.size() + Transfer::head_bytes;
    return {.messages = 1,
            .payload_bytes = outgoing_.size(),
            .wire_bytes = wire_bytes,
            .offnode_bytes = team_.nodes().is_local(peer_) ? 0 : wire_bytes};
  }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return {{"latency_us", 1e6 * seconds.median / 2, "us", false}};
  }

 private:
  [[nodiscard]] bool takes_part() const { return team_.rank() == 0 || team_.rank() == last_; }

  // send() writes and receive() reads every byte, even if both ranks share the memory of a message.
  // The first bytes are the count.
  void send(std::uint64_t value) {
    std::memcpy(outgoing_.data(), &value, sizeof value);
    copy_message(team_, peer_, transfer_.begin(), outgoing_.data(), outgoing_.size());
    transfer_.send(outgoing_.size());
  }
  std::uint64_t receive() {
    const std::span<const std::byte> message = transfer_.receive();
    is_right_ = message.size() == incoming_.size() && is_right_;
    copy_message(team_, peer_, incoming_.data(), message.data(),
                 std::min(message.size(), incoming_.size()));
    transfer_.release();
    std::uint64_t value = 0;
    std::memcpy(&value, incoming_.data(), sizeof value);
    return value;
  }

  team& team_;
  int last_, peer_;
  std::vector<std::byte> outgoing_, incoming_;
  Transfer transfer_;
  std::uint64_t count_ = 0;
  bool is_right_ = true;
};

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

// Transfers messages by calls of the communication library.
class raw_transfer {
 public:
  static constexpr std::size_t head_bytes = sizeof(std::uint64_t);  // the flag

  raw_transfer(team& ranks, int peer, std::size_t bytes, bool)
      : team_(ranks), peer_(peer), bytes_(bytes), calls_(raw_calls_of(ranks, bytes)) {}
  [[nodiscard]] std::byte* begin() { return calls_->outgoing_message(); }
  void send(std::size_t bytes) { calls_->send(peer_, bytes, ++sent_); }
  [[nodiscard]] std::span<const std::byte> receive() {
    ++received_;
    for (waiter wait(team_, "the raw ping-pong", peer_); !calls_->arrived(received_);
         wait.pause()) {
    }
    return {calls_->message(), bytes_};
  }
  void release() {}

 private:
  team& team_;
  int peer_;
  std::size_t bytes_;
  std::unique_ptr<longshore::detail::raw_calls> calls_;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace

std::unique_ptr<measurement> make_channel_pingpong(team& ranks, std::size_t bytes) {
  return std::make_unique<pingpong<channel_transfer>>(ranks, bytes);
}

std::unique_ptr<measurement> make_raw_pingpong(team& ranks, std::size_t bytes) {
  return std::make_unique<pingpong<raw_transfer>>(ranks, bytes);
}

}  // namespace longshore::bench

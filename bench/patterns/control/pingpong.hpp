// Kernel pingpong of pattern control: a message from rank 0 to the last rank and back, by any kind
// of transfer. All other ranks do nothing.
//
// Every transfer does the same work: the sender writes the whole message once to the memory from
// which it is sent (a slot of a channel, the source of a put), and the receiver reads the message
// once from the memory in which it arrives (a slot, the destination of a put).
#pragma once

#include "harness/measurement.hpp"
#include "patterns/control/kernels.hpp"

#include <longshore/core/random.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore::bench {

/// All ranks construct a `Transfer` of (team, peer, bytes, whether this rank takes part). begin()
/// returns the memory for the next message, and send(bytes) sends this message. receive() waits for
/// a message and returns it, and release() ends its use. On the wire every message has
/// Transfer::head_bytes more.
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

}  // namespace longshore::bench

// A message from rank 0 to the last rank and back, whatever carries it. The other ranks do nothing.
//
// What is done to a message is the same on every way: all of it is written where it is built (a slot of a channel; the source of a put) and
// all of it is read where it arrives (the same slot, or that of the other end; the destination of a put), once.
#pragma once

#include "harness/pattern.hpp"

#include <longshore/core/random.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace longshore::bench {

constexpr std::size_t pingpong_bytes = 8;  ///< the least: a count

/// `Way` is made of (team, peer, bytes, whether this rank takes part); all ranks make one. way.begin() is where the next message is built, and
/// way.send(bytes) gives it away; way.receive() waits for one and says where it lies until way.done(). Way::head_bytes: what goes with a message.
template <class Way>
class pingpong final : public measurement {
 public:
  pingpong(team& ranks, std::size_t bytes)
      : team_(ranks),
        last_(ranks.size() - 1),
        peer_(ranks.rank() == 0 ? last_ : 0),
        outgoing_(bytes),
        incoming_(bytes),
        way_(ranks, peer_, bytes, takes_part()) {
    for (std::size_t i = 0; i < bytes; ++i) outgoing_[i] = static_cast<std::byte>(mix_bits(i));  // the same on both ranks
  }

  void run() override {
    if (!takes_part()) return;
    if (team_.rank() == 0) {
      send(++count_);
      right_ = receive() == ~count_ && right_;
    } else {
      const std::uint64_t question = receive();
      right_ = question == ++count_ && right_;
      send(~question);
    }
  }
  [[nodiscard]] bool verify() override {
    if (!takes_part()) return true;
    return right_ && count_ > 0 &&
           std::equal(incoming_.begin() + pingpong_bytes, incoming_.end(), outgoing_.begin() + pingpong_bytes);
  }
  [[nodiscard]] traffic moved() const override {
    if (!takes_part()) return {};
    const std::size_t wire_bytes = outgoing_.size() + Way::head_bytes;
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

  // Every byte is written and read, also where both ranks share the memory of a message. The first ones are the count.
  void send(std::uint64_t value) {
    std::memcpy(outgoing_.data(), &value, sizeof value);
    std::memcpy(way_.begin(), outgoing_.data(), outgoing_.size());
    way_.send(outgoing_.size());
  }
  std::uint64_t receive() {
    const std::span<const std::byte> message = way_.receive();
    right_ = message.size() == incoming_.size() && right_;
    std::memcpy(incoming_.data(), message.data(), std::min(message.size(), incoming_.size()));
    way_.done();
    std::uint64_t value = 0;
    std::memcpy(&value, incoming_.data(), sizeof value);
    return value;
  }

  team& team_;
  int last_, peer_;
  std::vector<std::byte> outgoing_, incoming_;
  Way way_;
  std::uint64_t count_ = 0;
  bool right_ = true;
};

}  // namespace longshore::bench

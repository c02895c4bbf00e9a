// Channels between nodes: a put and a signal. The receiver has the slots; the sender packs into slots of its own, puts the whole message, and
// sets the count of messages behind it. The receiver puts back how many it has taken: that is the credit.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/one_sided/library.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace longshore::one_sided {

/// How the memory of one end of a channel is cut: a line for the counter that the other end writes, one for what this end says of itself, then
/// the slots, each with a line before it whose last words are the count of messages with this one, and the length.
struct signal_layout {
  signal_layout(std::size_t slot_bytes, int slots);
  static constexpr std::size_t said_at = 64;
  static constexpr std::size_t head_bytes = 64;  // so that messages stay aligned
  static constexpr std::size_t count_at = head_bytes - 16, length_at = head_bytes - 8;
  std::size_t first_slot, slot_stride, total_bytes;
};

class signal_receiver;

/// Receivers that have released messages and not told so. A credit is not urgent while its sender has slots left, and the answer to a message
/// goes before it; whoever waits, for whatever, tells all first.
class untold_credits {
 public:
  void add(signal_receiver& receiver) { receivers_.push_back(&receiver); }
  void tell();
  /// Before the end of a receiver.
  void forget(const signal_receiver& receiver) { std::erase(receivers_, &receiver); }

 private:
  std::vector<signal_receiver*> receivers_;
};

class signal_sender final : public channel_sender {
 public:
  /// `here`: offset of this end in the own part of `memory`; `there`: of the receiver's in its part.
  signal_sender(channel_end end, int slots, library& lib, untold_credits& untold, region& memory, std::size_t here,
                std::size_t there);
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;

 private:
  library& library_;
  untold_credits& untold_;
  region& memory_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  std::uint64_t slots_, produced_ = 0, consumed_seen_ = 0;
  std::size_t slot_ = 0;
};

class signal_receiver final : public channel_receiver {
 public:
  signal_receiver(channel_end end, int slots, library& lib, untold_credits& untold, region& memory, std::size_t here,
                  std::size_t there);
  ~signal_receiver() override { untold_.forget(*this); }
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  friend class untold_credits;
  // From this many on nothing is gained by waiting longer.
  void tell();
  [[nodiscard]] bool must_tell() const noexcept { return 2 * (consumed_ - told_) >= slots_; }

  library& library_;
  untold_credits& untold_;
  region& memory_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  std::uint64_t slots_, consumed_ = 0, produced_seen_ = 0, told_ = 0;
  std::size_t slot_ = 0;
  bool noted_ = false;  // among the untold
};

}  // namespace longshore::one_sided

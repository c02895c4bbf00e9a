// Channels between nodes: a put and a signal. The receiver has the slots; the sender packs into slots of its own, puts the whole message, and
// sets the count of messages behind it. The receiver puts back how many it has taken: that is the credit.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/one_sided/library.hpp>

#include <atomic>
#include <cstdint>

namespace longshore::one_sided {

/// How the memory of one end of a channel is cut: a line for the counter that the other end writes, then the slots, each with the length of its
/// message before it.
struct signal_layout {
  signal_layout(std::size_t slot_bytes, int slots);
  static constexpr std::size_t length_bytes = 64;  // before a message, so that messages stay aligned
  std::size_t first_slot, slot_stride, total_bytes;
};

class signal_sender final : public channel_sender {
 public:
  /// `here`: offset of this end in the own part of `memory`; `there`: of the receiver's in its part.
  signal_sender(channel_end end, int slots, library& lib, region& memory, std::size_t here, std::size_t there);
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;

 private:
  library& library_;
  region& memory_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  std::uint64_t slots_, produced_ = 0, consumed_seen_ = 0;
  std::size_t slot_ = 0;
};

class signal_receiver final : public channel_receiver {
 public:
  signal_receiver(channel_end end, int slots, library& lib, region& memory, std::size_t here, std::size_t there);
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  library& library_;
  region& memory_;
  signal_layout layout_;
  const std::byte* here_;
  std::size_t there_;
  std::uint64_t slots_, consumed_ = 0, produced_seen_ = 0;
  std::size_t slot_ = 0;
};

}  // namespace longshore::one_sided

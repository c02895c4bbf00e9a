// Channels in shared memory, for all transports. Each channel is a ring of slots with one producer
// and one consumer.
//
// The way of a message (channel.hpp): the sender writes the message into the next slot of the ring
// and increments `produced`. The receiver reads the message in the same slot and increments
// `consumed`, which is the credit. Message i is in slot i mod slots.
#pragma once

#include <longshore/transport/team.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

namespace longshore::detail {

/// The start of a ring in memory. The fields of the producer and of the consumer lie in different
/// cache lines. The lengths of the messages follow `produced` in the same cache line, so that a
/// small message costs the consumer two cache misses, not three.
struct ring_header {
  alignas(interference_bytes) std::atomic<std::uint64_t> consumed;
  alignas(interference_bytes) std::atomic<std::uint64_t> produced;
  // One length per slot: the array continues behind the struct (ring_layout). The slots follow.
  std::uint64_t length_bytes[1];
};

/// The size of a ring and the offsets in it, in bytes.
struct ring_layout {
  ring_layout(std::size_t slot_bytes, int slots);
  std::size_t slot_stride, first_slot, total_bytes;
};

/// The view of a ring that sender and receiver share.
class ring_end {
 protected:
  ring_end(std::size_t slot_bytes, int slots, std::byte* ring);
  [[nodiscard]] std::byte* current_slot() const noexcept { return slots_begin_ + slot_ * stride_; }
  void advance() noexcept { slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1; }

  ring_header* header_;
  std::byte* slots_begin_;
  std::size_t stride_;
  std::uint64_t slots_;
  std::size_t slot_ = 0;  // number of sent or received messages mod slots_
};

class ring_sender final : public channel_sender, private ring_end {
 public:
  ring_sender(channel_end end, std::byte* ring)
      : channel_sender(end), ring_end(end.slot_bytes, end.slots, ring) {}
  std::byte* reserve() override;
  void commit(std::size_t bytes) override;

 private:
  std::uint64_t produced_ = 0, consumed_seen_ = 0;
};

class ring_receiver final : public channel_receiver, private ring_end {
 public:
  ring_receiver(channel_end end, std::byte* ring)
      : channel_receiver(end), ring_end(end.slot_bytes, end.slots, ring) {}
  std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  std::uint64_t consumed_ = 0, produced_seen_ = 0;
};

/// The rings between this rank and the ranks of its node. The transport makes the channels between
/// nodes.
class ring_channels {
 public:
  /// Bytes of shared memory that this rank needs for its `to` ends, at most 2^62.
  static std::size_t needed_bytes(std::span<const channel_end> to);

  /// Collective over the ranks that share memory. `part_of(rank)` is the address of a rank's part
  /// of the memory: at least needed_bytes() of that rank, zeroed. Each rank writes the offsets of
  /// its rings into its part, calls `barrier`, and reads the offsets of its incoming rings in the
  /// parts of the senders. Throws errc::usage if the two ends of a channel do not match.
  ring_channels(std::span<const channel_end> to, std::span<const channel_end> from, int my_rank,
                const std::function<std::byte*(int)>& part_of,
                const std::function<void()>& barrier);

  // In the order of `to` and of `from`.
  std::deque<ring_sender> senders;
  std::deque<ring_receiver> receivers;
};

}  // namespace longshore::detail

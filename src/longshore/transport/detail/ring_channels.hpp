// Channels in shared memory, for all transports. Each channel is a ring of slots with one producer
// and one consumer.
//
// The way of a message (channel.hpp): the sender writes the message into the next slot of the ring
// and increments `produced`. The receiver reads the message in the same slot and increments
// `consumed`, which is the credit. Message i is in slot i mod slots.
#pragma once

#include <longshore/transport/detail/staged_slot.hpp>
#include <longshore/transport/team.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace longshore::detail {

/// Where the words and slots of a ring lie. The sender chooses, and the receiver finds the choice
/// in the sender's directory.
struct ring_memory {
  std::atomic<std::uint64_t>* consumed;  ///< written by the receiver alone
  std::atomic<std::uint64_t>* produced;
  std::uint64_t* length_bytes;  ///< one per slot, directly behind `produced`: a small message costs
                                ///< the receiver two cache misses, not three
  std::byte* slots;
};

/// Spread: the words of the receiver, the words of the sender, and different rings lie in different
/// cache lines. So ranks on different cores do not take lines from each other. Packed: the words of
/// all rings of a sender lie together, in a quarter of the lines. That helps if ranks share cores,
/// because a rank then finds its lines in a far cache or in memory at every turn.
enum class ring_packing { spread, packed };

/// The offsets of the rings of one rank, ring after ring, in bytes.
class ring_layout {
 public:
  struct offsets {
    std::uint64_t consumed, produced, slots;
  };
  ring_layout(std::size_t first_offset, std::span<const channel_end> to, ring_packing packing);
  /// Returns the offsets of the next ring, which belongs to `end`.
  offsets next(const channel_end& end);
  /// Returns the offset behind all rings that next() has placed.
  [[nodiscard]] std::size_t end_offset() const noexcept { return slots_; }

 private:
  std::size_t alignment_;
  std::size_t consumed_, produced_, slots_;  // the next free offsets
};

/// The view of a ring that sender and receiver share.
class ring_end {
 protected:
  ring_end(const channel_end& end, const ring_memory& memory)
      : memory_(memory), stride_(round_up(end.slot_bytes, cache_line_bytes)), slots_(end.slots) {}
  [[nodiscard]] std::byte* current_slot() const noexcept { return memory_.slots + slot_ * stride_; }
  void advance() noexcept { slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1; }

  ring_memory memory_;
  std::size_t stride_;
  std::uint64_t slots_;
  std::size_t slot_ = 0;  // number of sent or received messages mod slots_
};

class ring_sender final : public channel_sender, private ring_end {
 public:
  ring_sender(const channel_end& end, const ring_memory& memory)
      : channel_sender(end), ring_end(end, memory), staged_(end) {}
  std::byte* reserve() override;
  void commit(std::size_t bytes) override;

 private:
  std::uint64_t produced_ = 0, consumed_seen_ = 0;
  staged_slot staged_;
};

class ring_receiver final : public channel_receiver, private ring_end {
 public:
  ring_receiver(const channel_end& end, const ring_memory& memory)
      : channel_receiver(end), ring_end(end, memory) {}
  void prefetch() const noexcept override {
    __builtin_prefetch(memory_.produced);
    __builtin_prefetch(current_slot());
  }
  std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  std::uint64_t consumed_ = 0, produced_seen_ = 0;
};

/// The rings between this rank and the ranks of its node. The transport makes the channels between
/// nodes.
class ring_channels {
 public:
  /// Packed if ranks share cores and this rank has many rings.
  static ring_packing packing_for(const team& team, std::span<const channel_end> to);
  /// Bytes of shared memory that this rank needs for its `to` ends, at most 2^62.
  static std::size_t needed_bytes(std::span<const channel_end> to, ring_packing packing);

  /// Local. Lays out the rings to other ranks, and writes their offsets, in `my_part` of the shared
  /// memory. REQUIRES: `my_part` has at least needed_bytes(), and no rank uses its old contents any
  /// more.
  ring_channels(std::span<const channel_end> to, std::byte* my_part, ring_packing packing);
  /// Local. Finds the rings from other ranks. `part_of(rank)` is the address of a rank's part. Throws
  /// errc::usage if the two ends of a channel do not match. REQUIRES: the ranks that share memory
  /// have made their rings, and then met in a collective call.
  void connect(std::span<const channel_end> from, int my_rank,
               const std::function<std::byte*(int)>& part_of);

  // In the order of `to` and of `from`.
  std::vector<ring_sender> senders;
  std::vector<ring_receiver> receivers;
};

}  // namespace longshore::detail

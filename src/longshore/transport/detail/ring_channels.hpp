// Channels in shared memory, for all transports: a ring of slots per channel, with one producer and
// one consumer.
//
// The way of a message (channel.hpp): the sender writes into the next slot of the ring and
// increments `produced`. The receiver reads the message in the same slot and increments `consumed`,
// which is the credit. Slot i mod slots holds message i.
#pragma once

#include <longshore/transport/team.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace longshore::detail {

/// The start of a ring in memory. The fields of the producer and of the consumer lie in different
/// cache lines. The lengths of the messages follow `produced` in its line, so that a small message
/// costs the consumer two cache misses, not three.
struct ring_header {
  alignas(interference_bytes) std::atomic<std::uint64_t> consumed;
  alignas(interference_bytes) std::atomic<std::uint64_t> produced;
  std::uint64_t length_bytes[1];  // one for each slot; the slots follow
};

/// The size and the inner layout of a ring, in bytes.
struct ring_layout {
  ring_layout(std::size_t slot_bytes, int slots);
  std::size_t slot_stride, first_slot, total_bytes;
};

class ring_sender final : public channel_sender {
 public:
  ring_sender(channel_end end, int slots, std::byte* ring);
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;

 private:
  ring_header* header_;
  std::byte* slots_begin_;
  std::size_t stride_;
  std::uint64_t slots_, produced_ = 0, consumed_seen_ = 0;
  std::size_t slot_ = 0;  // produced_ mod slots_
};

class ring_receiver final : public channel_receiver {
 public:
  ring_receiver(channel_end end, int slots, std::byte* ring);
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;

 private:
  ring_header* header_;
  const std::byte* slots_begin_;
  std::size_t stride_;
  std::uint64_t slots_, consumed_ = 0, produced_seen_ = 0;
  std::size_t slot_ = 0;
};

/// The rings between this rank and the ranks with which it shares memory. A transport uses it for
/// the ends whose peers are on the same node, and makes the other ends itself.
class ring_channels {
 public:
  /// Bytes of shared memory that this rank needs for its `to` ends; 2^62 if they are more.
  static std::size_t needed_bytes(std::span<const channel_end> to, int slots);

  /// Collective over the ranks that share memory. `part_of(rank)` is the address of a rank's part
  /// of the memory: at least needed_bytes() of that rank, zeroed. Each rank writes the offsets of
  /// its rings into its part, calls `barrier`, and finds the rings that lead to it in the parts of
  /// the others. Throws errc::usage if the two ends of a channel do not match.
  ring_channels(std::span<const channel_end> to, std::span<const channel_end> from, int slots,
                int my_rank, const std::function<std::byte*(int)>& part_of,
                const std::function<void()>& barrier);

  // In the order of `to` and `from`.
  std::deque<ring_sender> senders;
  std::deque<ring_receiver> receivers;
};

}  // namespace longshore::detail

// Channels in shared memory: a ring of slots per channel with one producer and one consumer, the
// same for every transport.
#pragma once

#include <longshore/transport/team.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace longshore::detail {

/// Start of a ring in memory. What the producer writes and what the consumer writes lie on lines of
/// their own; the lengths of the messages follow `produced` on its line, so that a small message
/// costs the consumer two cache misses, not three.
struct ring_header {
  alignas(interference_bytes) std::atomic<std::uint64_t> consumed;
  alignas(interference_bytes) std::atomic<std::uint64_t> produced;
  std::uint64_t length_bytes[1];  // as many as there are slots; the slots follow
};

/// Bytes and inner layout of a ring.
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

/// The rings between this rank and those it can reach. `reach(peer)` gives the address of a peer's
/// part of `memory`, or null. A transport uses it for the ends whose peer is reachable, and makes
/// the other ends itself.
class ring_channels {
 public:
  /// Bytes of shared memory that this rank needs for its `to` ends; 2^62 when it is more than that.
  static std::size_t needed_bytes(std::span<const channel_end> to, int slots);

  /// Collective over the ranks that share memory, after `memory` of at least needed_bytes on each
  /// was allocated, zeroed: each writes where its rings lie, `meet` (a barrier) is called, each
  /// finds the rings that lead to it. Throws errc::usage when the two sides of a channel do not
  /// fit.
  ring_channels(std::span<const channel_end> to, std::span<const channel_end> from, int slots,
                int my_rank, const std::function<std::byte*(int)>& reach,
                const std::function<void()>& meet);

  /// In the order of `to` and `from`.
  std::deque<ring_sender> senders;
  std::deque<ring_receiver> receivers;
};

}  // namespace longshore::detail

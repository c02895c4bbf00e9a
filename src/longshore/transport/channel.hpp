// Channels: ordered, flow-controlled streams of messages from one rank to one other, in fixed
// slots.
//
// The sender writes a message straight into a slot; in memory that both ranks share the receiver
// reads it from there: one copy, not two. A slow receiver stops its sender (reserve gives nothing):
// memory is slots x slot_bytes per channel (twice that where messages cross between nodes),
// whatever happens.
//
// What crosses between nodes goes on, both ways, while this rank waits (waiter, team::attend, a
// collective) or looks at a channel that crosses too, and need not go on in between. A loop that
// looks at other things, at memory say, calls attend() now and then.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

/// One end of a channel to be opened: the other rank (may be the own one), and the bytes of the
/// largest message.
struct channel_end {
  int peer = 0;
  std::size_t slot_bytes = 0;
};

/// The sending end. Used by one thread.
class channel_sender {
 public:
  virtual ~channel_sender() = default;
  /// The slot for the next message, slot_bytes() long and aligned to a cache line; null while the
  /// receiver is too far behind. Asking again without commit gives the same slot. Never blocks.
  [[nodiscard]] virtual std::byte* reserve() = 0;
  /// Sends the first `bytes` bytes of the reserved slot; 0 is a message too. The slot is no longer
  /// the caller's.
  virtual void commit(std::size_t bytes) = 0;

  [[nodiscard]] int peer() const noexcept { return end_.peer; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return end_.slot_bytes; }

 protected:
  explicit channel_sender(channel_end end) : end_(end) {}

 private:
  channel_end end_;
};

/// The receiving end. Used by one thread.
class channel_receiver {
 public:
  virtual ~channel_receiver() = default;
  /// The oldest message not yet released, or nothing when none has arrived. Asking again gives the
  /// same one. Never blocks.
  [[nodiscard]] virtual std::optional<std::span<const std::byte>> front() = 0;
  /// Gives the slot of front() back to the sender, which may hear of it when this rank waits next.
  /// REQUIRES: front() gave a message since the last release.
  virtual void release() = 0;

  [[nodiscard]] int peer() const noexcept { return end_.peer; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return end_.slot_bytes; }

 protected:
  explicit channel_receiver(channel_end end) : end_(end) {}

 private:
  channel_end end_;
};

/// All channels that one rank opened in one collective call, in the order in which it named them.
/// Destroying it is collective; messages that were not received by then are lost.
class channel_set {
 public:
  virtual ~channel_set() = default;
  channel_set(const channel_set&) = delete;
  channel_set& operator=(const channel_set&) = delete;

  [[nodiscard]] std::size_t sender_count() const noexcept { return senders_.size(); }
  [[nodiscard]] std::size_t receiver_count() const noexcept { return receivers_.size(); }
  [[nodiscard]] channel_sender& sender(std::size_t i) const noexcept { return *senders_[i]; }
  [[nodiscard]] channel_receiver& receiver(std::size_t i) const noexcept { return *receivers_[i]; }

 protected:
  channel_set() = default;
  std::vector<channel_sender*> senders_;  // owned by the derived class
  std::vector<channel_receiver*> receivers_;
};

}  // namespace longshore

// Channels: ordered streams of messages from one rank to another, through a fixed number of slots.
//
// The way of a message:
//   1. sender.reserve() gives the next free slot. The user writes the message into it.
//   2. sender.commit(bytes) sends it.
//   3. receiver.front() gives the oldest message that has arrived. The user reads it in place.
//   4. receiver.release() frees the slot. A credit tells the sender, so that reserve() can give the
//      slot again.
// If the receiver is slow, all slots fill up and reserve() gives null. So a channel never needs
// more memory than slots x slot_bytes, or twice that between nodes.
//
// Steps 2 and 4 have one implementation for each kind of connection:
//   detail/ring_channels          within a node: both ranks use the slots in shared memory, a
//                                 message is copied once, and a credit is a counter in memory
//   mpi/detail/message_channels   between nodes: sends into posted receives; the completion of a
//                                 synchronous send is the credit for the messages up to it
//   one_sided/detail/signal_channels  between nodes: a put of the message, then of a signal word
//   ucx/detail/message_channels   between nodes, over TCP: active messages
//
// Messages between nodes may move only while this rank waits (in a waiter or a collective call),
// polls a channel between nodes, or calls team::progress(). So a loop that polls anything else,
// such as memory, must call team::progress() now and then.
#pragma once

#include <longshore/core/error.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// What team::open_channels() needs to know of one end of a channel.
struct channel_end {
  int peer = 0;                ///< the rank at the other end; may be this rank
  std::size_t slot_bytes = 0;  ///< bytes of the largest message
  /// slots of this channel, the same at both ends; if 0, as many as the call gives to all channels
  int slots = 0;
  /// True if the receiver reads all messages, whatever else it waits for. Then credits may wait
  /// until half of the slots are used, and the sender still gets its slots back.
  bool reads_all = false;
  /// True if most messages fill their slot. Within a node, the sender may then copy them into their
  /// slots by streaming stores, where it measures that this is faster (detail/staged_slot.hpp). It
  /// needs the memory of one more slot. Only the value at the sending end counts.
  bool streams = false;
};

/// Thrown by team::open_channels(), with errc::usage, if the ends of a channel differ in slots.
class slot_mismatch : public error {
 public:
  explicit slot_mismatch(const std::string& message) : error(errc::usage, message) {}
  [[nodiscard]] const char* what() const noexcept override;
};

/// The sending end. Only one thread may use it.
class channel_sender {
 public:
  virtual ~channel_sender() = default;
  /// The slot for the next message, slot_bytes() long and aligned to a cache line. Null while all
  /// slots are in use. Gives the same slot until commit(). Never blocks.
  [[nodiscard]] virtual std::byte* reserve() = 0;
  /// Sends the first `bytes` bytes of the reserved slot; the message may be empty. The caller must
  /// not touch the slot any more.
  virtual void commit(std::size_t bytes) = 0;

  [[nodiscard]] int peer() const noexcept { return end_.peer; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return end_.slot_bytes; }
  /// The bytes of the messages that were streamed so far (channel_end::streams).
  [[nodiscard]] std::size_t streamed_bytes() const noexcept { return streamed_bytes_; }

 protected:
  explicit channel_sender(channel_end end) : end_(end) {}
  std::size_t streamed_bytes_ = 0;

 private:
  channel_end end_;
};

/// The receiving end. Only one thread may use it.
class channel_receiver {
 public:
  virtual ~channel_receiver() = default;
  /// The oldest message that has arrived and is not yet released, if there is one. Gives the same
  /// message until release(). Never blocks.
  [[nodiscard]] virtual std::optional<std::span<const std::byte>> front() = 0;
  /// If ranks share cores, the messages of many peers are mostly not in a rank's caches. So a loop
  /// over peers calls prefetch() for a peer this many peers before it reads the peer's message.
  static constexpr int peers_ahead = 8;
  /// A hint that front() will be called soon: requests the memory that front() and the reader of a
  /// small message touch first. Does nothing where messages do not come through memory.
  virtual void prefetch() const noexcept {}
  /// Returns the slot of front() to the sender. The credit may leave as late as this rank's next
  /// wait. REQUIRES: front() gave a message since the last release.
  virtual void release() = 0;

  [[nodiscard]] int peer() const noexcept { return end_.peer; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return end_.slot_bytes; }

 protected:
  explicit channel_receiver(channel_end end) : end_(end) {}

 private:
  channel_end end_;
};

/// Polls receivers without looking at each of them, for ranks with thousands of channels.
class quiet_receivers {
 public:
  virtual ~quiet_receivers() = default;
  /// Polls receivers cyclically from number `first` on. Stops before the first receiver that may
  /// have a message, or after `limit` receivers. Returns the number of polled receivers.
  virtual std::size_t poll(std::size_t first, std::size_t limit) = 0;
};

/// The channels that a rank opened in one call of team::open_channels(to, from, slots).
/// sender(i) sends to to[i], and receiver(i) receives from from[i]. Destroying the set is
/// collective and drops messages that have not been received.
class channel_set {
 public:
  virtual ~channel_set() = default;
  channel_set(const channel_set&) = delete;
  channel_set& operator=(const channel_set&) = delete;

  [[nodiscard]] std::size_t sender_count() const noexcept { return senders_.size(); }
  [[nodiscard]] std::size_t receiver_count() const noexcept { return receivers_.size(); }
  [[nodiscard]] channel_sender& sender(std::size_t i) const noexcept { return *senders_[i]; }
  [[nodiscard]] channel_receiver& receiver(std::size_t i) const noexcept { return *receivers_[i]; }
  /// Null if polling each receiver costs as little.
  [[nodiscard]] virtual quiet_receivers* quiet() const noexcept { return nullptr; }

 protected:
  channel_set() = default;
  std::vector<channel_sender*> senders_;  // owned by the derived class
  std::vector<channel_receiver*> receivers_;
};

}  // namespace longshore

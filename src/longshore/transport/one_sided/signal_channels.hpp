// Channels between nodes over a one-sided library. Both ends have a copy of each slot.
//
// The way of a message (channel.hpp):
//   1. The user writes it into a slot of the sender.
//   2. commit() puts it into the same slot of the receiver, and then puts a signal word there: the
//      number and the length of the message.
//   3. front() sees the signal word of the next number, and gives the receiver's slot.
//   4. release() counts the message. This count is the credit. It returns to the sender in one of
//      two ways. If the sender's rank also receives from this rank through a paired channel, the
//      next message there carries the credit in its signal word (piggybacked). Otherwise a put of
//      8 bytes carries it. That put is deferred until half of the slots are used (if there are four
//      or more), or until the receiving rank waits or polls an empty channel.
//
// Cost: a put of the message and one of 8 bytes; 8 bytes per credit that is sent alone.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/one_sided/library.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace longshore::one_sided {

/// The layout of a signal word: number of the message, credit, length. Only the low bits of the two
/// numbers are stored: enough to distinguish all messages that can be in flight. The same at both
/// ends.
class signal_format {
 public:
  /// Throws errc::unsupported if 64 bits are not enough, from about 2^40 bytes per channel on.
  signal_format(std::size_t slot_bytes, int slots);
  [[nodiscard]] std::uint64_t word(std::uint64_t number, std::size_t bytes,
                                   std::uint64_t credit) const noexcept {
    return number << (64 - number_bits_) | (credit & low(number_bits_)) << length_bits_ | bytes;
  }
  /// Whether a word belongs to message `number`.
  [[nodiscard]] bool is_of(std::uint64_t word, std::uint64_t number) const noexcept {
    return word >> (64 - number_bits_) == (number & low(number_bits_));
  }
  [[nodiscard]] std::size_t bytes(std::uint64_t word) const noexcept {
    return word & low(length_bits_);
  }
  /// By how much the credit of a word exceeds `seen`; 0 if it is smaller. REQUIRES: they differ by
  /// no more than the number of slots.
  [[nodiscard]] std::uint64_t credit_beyond(std::uint64_t word, std::uint64_t seen) const noexcept {
    const std::uint64_t more = ((word >> length_bits_) - seen) & low(number_bits_);
    return more > low(number_bits_ - 1) ? 0 : more;
  }

 private:
  static constexpr std::uint64_t low(unsigned bits) noexcept {
    return (std::uint64_t{1} << bits) - 1;
  }
  unsigned length_bits_, number_bits_;
};

/// The layout of the memory of one end: a cache line that receives credits sent alone, a cache line
/// from which this end puts its own, a signal word for each slot, and the slots.
struct signal_layout {
  signal_layout(std::size_t slot_bytes, int slots);
  static constexpr std::size_t credit_source_at = 64, words_at = 128;
  std::size_t first_slot, slot_stride, total_bytes;
};

class signal_receiver;

/// The receivers of a rank that have released messages but not yet sent the credit. A credit is not
/// urgent while its sender has free slots, and a message to the sender can carry it. Before a rank
/// waits for anything, it sends all deferred credits, because another rank may wait for them.
class deferred_credits {
 public:
  void add(signal_receiver& receiver) { receivers_.push_back(&receiver); }
  void send_all();
  /// Call it before a receiver is destroyed.
  void remove(const signal_receiver& receiver) { std::erase(receivers_, &receiver); }

 private:
  std::vector<signal_receiver*> receivers_;
};

class signal_sender final : public channel_sender {
 public:
  /// `here`: offset of this end in this rank's part of `memory`. `there`: offset of the receiver in
  /// the peer's part.
  signal_sender(channel_end end, int slots, library& lib, deferred_credits& deferred,
                region& memory, std::size_t here, std::size_t there);
  /// Pairs this end with the receiver of a channel in the reverse direction: the messages of each
  /// channel then carry the credits of the other.
  void pair_with(signal_receiver& reverse) noexcept { reverse_ = &reverse; }
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Takes the credit from the signal word of a message of the reverse channel, which has `format`.
  void take_credit(const signal_format& format, std::uint64_t word) noexcept {
    consumed_seen_ += format.credit_beyond(word, consumed_seen_);
  }

 private:
  library& library_;
  deferred_credits& deferred_credits_;
  region& memory_;
  signal_format format_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  signal_receiver* reverse_ = nullptr;
  std::uint64_t slots_, produced_ = 0, consumed_seen_ = 0;
  std::size_t slot_ = 0;
};

class signal_receiver final : public channel_receiver {
 public:
  signal_receiver(channel_end end, int slots, library& lib, deferred_credits& deferred,
                  region& memory, std::size_t here, std::size_t there);
  ~signal_receiver() override { deferred_credits_.remove(*this); }
  void pair_with(signal_sender& reverse) noexcept { reverse_ = &reverse; }
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;
  /// The credit, for the signal word of a message to the sender.
  [[nodiscard]] std::uint64_t piggyback_credit() noexcept { return credit_sent_ = consumed_; }
  /// Gives the paired sender the credits of all messages that have arrived.
  void collect_credits();

 private:
  friend class deferred_credits;
  void send_credit();
  // From half of the slots on, deferring the credit longer gains nothing.
  [[nodiscard]] bool credit_is_due() const noexcept {
    return 2 * (consumed_ - credit_sent_) >= slots_;
  }
  [[nodiscard]] std::uint64_t word_of(std::size_t slot) const noexcept;

  library& library_;
  deferred_credits& deferred_credits_;
  region& memory_;
  signal_format format_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  signal_sender* reverse_ = nullptr;
  std::uint64_t slots_, consumed_ = 0, credit_sent_ = 0;
  std::uint64_t credits_read_ = 0;  // number of messages whose credit has been taken
  std::size_t slot_ = 0;
  bool is_deferred_ = false;  // this receiver is in deferred_credits_
  unsigned empty_polls_ = 0;
};

}  // namespace longshore::one_sided

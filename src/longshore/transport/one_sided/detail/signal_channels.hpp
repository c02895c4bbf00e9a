// Channels between nodes over a one-sided library. Sender and receiver have a copy of each slot.
//
// The way of a message (channel.hpp):
//   - commit() puts the message into the same slot of the receiver, and then puts a signal word:
//     the number and the length of the message.
//   - front() sees the signal word of the next number, and gives the receiver's slot.
//   - release() counts the message. This count is the credit. If the two ranks also have a channel
//     in the reverse direction (paired), the signal word of its next message carries the credit.
//     Otherwise a put of 8 bytes does (credits.hpp).
//
// Cost: a put of the message and a put of 8 bytes; another put of 8 bytes per credit that is sent
// alone.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/channel.hpp>
#include <longshore/transport/one_sided/detail/library.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace longshore::one_sided {

/// The layout of a signal word: number of the message, credit, length. Only the low bits of number
/// and credit are stored: enough to distinguish all messages that can be in flight. Both ends have
/// the same layout.
class signal_format {
 public:
  /// Throws errc::unsupported if 64 bits are not enough, from about 2^40 bytes per channel upward.
  signal_format(std::size_t slot_bytes, int slots);
  [[nodiscard]] std::uint64_t word(std::uint64_t number, std::size_t bytes,
                                   std::uint64_t credit) const noexcept {
    // The shift drops the upper bits of the number.
    return number << (64 - number_bits_) | (credit & low(number_bits_)) << length_bits_ | bytes;
  }
  /// Whether `word` belongs to message `number`.
  [[nodiscard]] bool is_of(std::uint64_t word, std::uint64_t number) const noexcept {
    return word >> (64 - number_bits_) == (number & low(number_bits_));
  }
  [[nodiscard]] std::size_t bytes(std::uint64_t word) const noexcept {
    return word & low(length_bits_);
  }
  /// By how much the credit in `word` exceeds `seen`; 0 if the credit is smaller. REQUIRES: credit
  /// and `seen` differ by no more than the number of slots.
  [[nodiscard]] std::uint64_t credit_beyond(std::uint64_t word, std::uint64_t seen) const noexcept {
    // A difference in the upper half of the range stands for a negative number.
    const std::uint64_t more = ((word >> length_bits_) - seen) & low(number_bits_);
    return more > low(number_bits_ - 1) ? 0 : more;
  }

 private:
  static constexpr std::uint64_t low(unsigned bits) noexcept {
    return (std::uint64_t{1} << bits) - 1;
  }
  unsigned length_bits_, number_bits_;
};

/// The layout of the memory of one end: a cache line that receives credits, a cache line from which
/// this end puts credits, a signal word for each slot, and the slots.
struct signal_layout {
  signal_layout(std::size_t slot_bytes, int slots);
  static constexpr std::size_t own_credit_offset = cache_line_bytes,
                               words_offset = 2 * cache_line_bytes;
  std::size_t slots_offset, slot_stride, bytes;
};

class signal_receiver;

/// The memory of a channel as sender and receiver see it.
class signal_end {
 public:
  /// `own_offset` is the offset of this end in this rank's part of `memory`. `peer_offset` is the
  /// offset of the other end in the peer's part.
  signal_end(std::size_t slot_bytes, int slots, library& lib, region& memory,
             std::size_t own_offset, std::size_t peer_offset);

  [[nodiscard]] deferred_credits& deferred() const noexcept { return library_.credits(); }

 protected:
  [[nodiscard]] std::size_t slot_offset() const noexcept {
    return slots_offset_ + slot_ * slot_stride_;
  }
  void advance() noexcept { slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1; }

  library& library_;
  region& memory_;
  signal_format format_;
  std::byte* own_end_;
  std::size_t peer_offset_, slots_offset_, slot_stride_;
  std::uint64_t slots_;
  std::size_t slot_ = 0;
};

class signal_sender final : public channel_sender, private signal_end {
 public:
  signal_sender(channel_end end, const signal_end& memory)
      : channel_sender(end), signal_end(memory) {}
  /// Pairs this end with the receiver of a channel in the reverse direction. Then the messages of
  /// either channel carry the credits of the other.
  void pair_with(signal_receiver& reverse) noexcept { reverse_ = &reverse; }
  std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Takes the credit from the signal word of a message of the reverse channel. `format` is the
  /// format of that channel.
  void take_credit(const signal_format& format, std::uint64_t word) noexcept {
    consumed_seen_ += format.credit_beyond(word, consumed_seen_);
  }

 private:
  signal_receiver* reverse_ = nullptr;
  std::uint64_t produced_ = 0, consumed_seen_ = 0;
};

class signal_receiver final : public channel_receiver, public receiver_credits, private signal_end {
 public:
  signal_receiver(channel_end end, const signal_end& memory)
      : channel_receiver(end), receiver_credits(end, memory.deferred()), signal_end(memory) {}
  void pair_with(signal_sender& reverse) noexcept { reverse_ = &reverse; }
  std::optional<std::span<const std::byte>> front() override;
  void release() override;
  /// Gives the paired sender the credits of all messages that have arrived.
  void collect_credits();

 private:
  void put_credit(std::uint64_t credit) override;
  [[nodiscard]] std::uint64_t word_of(std::size_t slot) const noexcept;

  signal_sender* reverse_ = nullptr;
  std::uint64_t credits_read_ = 0;  // number of messages whose credit has been taken
};

}  // namespace longshore::one_sided

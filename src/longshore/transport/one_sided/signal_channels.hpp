// Channels between nodes: a put and a signal. The receiver has the slots; the sender packs into
// slots of its own, puts the message, and behind it a word that says its number and length. The
// receiver gives slots back by the number of messages that it has taken, the credit: in the word of
// a message to the sender where one goes, else by a word of its own.
//
// Cost: a put of the message and one of 8 bytes; as many bytes of credit where nothing goes back:
// at the latest when half of the slots are taken (of four or more), or when the receiver's rank
// waits or looks in vain.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/one_sided/library.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace longshore::one_sided {

/// What the word of a message says. Of the two numbers the low bits, enough to tell the messages
/// that can be under way from each other; the same at both ends.
class signal_format {
 public:
  /// Throws errc::unsupported where 64 bits are not enough: from some 2^40 bytes in a channel on.
  signal_format(std::size_t slot_bytes, int slots);
  [[nodiscard]] std::uint64_t word(std::uint64_t number, std::size_t bytes,
                                   std::uint64_t credit) const noexcept {
    return number << (64 - number_bits_) | (credit & low(number_bits_)) << length_bits_ | bytes;
  }
  [[nodiscard]] bool is_of(std::uint64_t word, std::uint64_t number) const noexcept {
    return word >> (64 - number_bits_) == (number & low(number_bits_));
  }
  [[nodiscard]] std::size_t bytes(std::uint64_t word) const noexcept {
    return word & low(length_bits_);
  }
  /// By how much the credit of a word is more than `seen`; 0 where it is less. REQUIRES: they
  /// differ by no more than the slots.
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

/// How the memory of one end of a channel is cut: a line for the credit that goes alone, one for
/// what this end puts there from, the words of the messages, one for each slot, and the slots.
struct signal_layout {
  signal_layout(std::size_t slot_bytes, int slots);
  static constexpr std::size_t said_at = 64, words_at = 128;
  std::size_t first_slot, slot_stride, total_bytes;
};

class signal_receiver;

/// Receivers that have released messages and not told so. A credit is not urgent while its sender
/// has slots left, and the answer to a message goes before it; whoever waits, for whatever, tells
/// all first.
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
  /// `here`: offset of this end in the own part of `memory`; `there`: of the receiver's in its
  /// part.
  signal_sender(channel_end end, int slots, library& lib, untold_credits& untold, region& memory,
                std::size_t here, std::size_t there);
  /// The end whose messages come from the receiver: credits go with them, both ways.
  void join(signal_receiver& back) noexcept { back_ = &back; }
  [[nodiscard]] std::byte* reserve() override;
  void commit(std::size_t bytes) override;
  /// Of a message that has come back, in the format of its channel.
  void take_credit(const signal_format& format, std::uint64_t word) noexcept {
    consumed_seen_ += format.credit_beyond(word, consumed_seen_);
  }

 private:
  library& library_;
  untold_credits& untold_;
  region& memory_;
  signal_format format_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  signal_receiver* back_ = nullptr;
  std::uint64_t slots_, produced_ = 0, consumed_seen_ = 0;
  std::size_t slot_ = 0;
};

class signal_receiver final : public channel_receiver {
 public:
  signal_receiver(channel_end end, int slots, library& lib, untold_credits& untold, region& memory,
                  std::size_t here, std::size_t there);
  ~signal_receiver() override { untold_.forget(*this); }
  void join(signal_sender& back) noexcept { back_ = &back; }
  [[nodiscard]] std::optional<std::span<const std::byte>> front() override;
  void release() override;
  /// The credit, which goes with a message to the sender.
  [[nodiscard]] std::uint64_t tell_along() noexcept { return told_ = consumed_; }
  /// Gives the other end of join() the credits of all messages that have come.
  void look_for_credits();

 private:
  friend class untold_credits;
  // From this many on nothing is gained by waiting longer.
  void tell();
  [[nodiscard]] bool must_tell() const noexcept { return 2 * (consumed_ - told_) >= slots_; }
  [[nodiscard]] std::uint64_t word_of(std::size_t slot) const noexcept;

  library& library_;
  untold_credits& untold_;
  region& memory_;
  signal_format format_;
  signal_layout layout_;
  std::byte* here_;
  std::size_t there_;
  signal_sender* back_ = nullptr;
  std::uint64_t slots_, consumed_ = 0, told_ = 0;
  std::uint64_t credits_read_ = 0;  // messages whose credit has been taken
  std::size_t slot_ = 0;
  bool noted_ = false;       // among the untold
  unsigned vain_looks_ = 0;  // for messages
};

}  // namespace longshore::one_sided

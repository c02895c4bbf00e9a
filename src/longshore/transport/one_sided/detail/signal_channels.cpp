// Both ends of a channel between nodes. The sender puts a message and then its signal word; the
// receiver polls the word. Credits return in words of the reverse channel, or in puts of their own.
#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/one_sided/detail/signal_channels.hpp>

#include <algorithm>
#include <bit>
#include <cassert>

namespace longshore::one_sided {
namespace {

// Reads a word that another rank writes.
std::uint64_t load_word(const std::byte* address) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(address)))
      .load(std::memory_order_acquire);
}

}  // namespace

signal_format::signal_format(std::size_t slot_bytes, int slots)
    : length_bits_(static_cast<unsigned>(std::bit_width(slot_bytes))),
      number_bits_((64 - length_bits_) / 2) {
  // Numbers and credits must differ from the number and credit of the previous message in the same
  // slot. Half of their range suffices. The other half stands for older credits in credit_beyond().
  const std::uint64_t max_slots = number_bits_ < 2 ? 0 : low(number_bits_ - 1);
  if (static_cast<std::uint64_t>(slots) > max_slots)
    fail(errc::unsupported,
         "a channel of {} slots of {} bytes: between nodes at most {} slots of that size are "
         "possible",
         slots, slot_bytes, max_slots);
}

signal_layout::signal_layout(std::size_t slot_bytes, int slots)
    : slots_offset(words_offset + round_up(slots * sizeof(std::uint64_t), interference_bytes)),
      slot_stride(round_up(slot_bytes, cache_line_bytes)),
      bytes(round_up(slots_offset + slots * slot_stride, interference_bytes)) {}

std::size_t library::end_bytes(const channel_end& end, bool /*sends*/) const {
  return signal_layout(end.slot_bytes, end.slots).bytes;
}

signal_end::signal_end(std::size_t slot_bytes, int slots, library& lib, region& memory,
                       std::size_t own_offset, std::size_t peer_offset)
    : library_(lib),
      memory_(memory),
      format_(slot_bytes, slots),
      own_end_(memory.local() + own_offset),
      peer_offset_(peer_offset),
      slots_(slots) {
  const signal_layout layout(slot_bytes, slots);
  slots_offset_ = layout.slots_offset;
  slot_stride_ = layout.slot_stride;
}

// The sender's slot is free as soon as the receiver's slot is free, because a received message has
// left the sender's memory. A credit that was sent alone arrives after all earlier messages of the
// reverse channel, so the credits of these messages are taken here too. So a credit is older than
// consumed_seen_ by at most the number of slots, as credit_beyond() requires.
std::byte* signal_sender::reserve() {
  if (produced_ - consumed_seen_ == slots_) {
    const std::uint64_t credit = load_word(own_end_);
    if (reverse_ != nullptr) reverse_->collect_credits();
    consumed_seen_ = std::max(consumed_seen_, credit);
    if (produced_ - consumed_seen_ == slots_) {
      library_.credits().send_all();  // the peer may wait for these credits
      library_.progress();
      return nullptr;
    }
  }
  return own_end_ + slot_offset();
}

void signal_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_seen_ < slots_);
  const std::size_t message = slot_offset();
  const std::size_t word = signal_layout::words_offset + slot_ * sizeof(std::uint64_t);
  const std::uint64_t value =
      format_.word(++produced_, bytes, reverse_ != nullptr ? reverse_->piggyback_credit() : 0);
  advance();
  auto* const signal = reinterpret_cast<std::uint64_t*>(own_end_ + word);
  *signal = value;
  memory_.put_with_signal(peer(), peer_offset_ + message, own_end_ + message, bytes,
                          peer_offset_ + word, signal);
}

std::uint64_t signal_receiver::word_of(std::size_t slot) const noexcept {
  return load_word(own_end_ + signal_layout::words_offset + slot * sizeof(std::uint64_t));
}

std::optional<std::span<const std::byte>> signal_receiver::front() {
  const std::uint64_t word = word_of(slot_);
  if (!format_.is_of(word, consumed() + 1)) {
    after_empty_poll([this] { library_.progress(); });
    return std::nullopt;
  }
  if (credits_read_ == consumed()) {
    ++credits_read_;
    if (reverse_ != nullptr) reverse_->take_credit(format_, word);
  }
  send_credit_if_due();
  return std::span<const std::byte>(own_end_ + slot_offset(), format_.bytes(word));
}

void signal_receiver::collect_credits() {
  for (; credits_read_ - consumed() < slots_; ++credits_read_) {
    const std::uint64_t word = word_of(credits_read_ % slots_);
    if (!format_.is_of(word, credits_read_ + 1)) return;
    reverse_->take_credit(format_, word);
  }
}

void signal_receiver::release() {
  assert(consumed() < credits_read_);
  advance();
  count_release();
}

void signal_receiver::put_credit(std::uint64_t credit) {
  auto* const word = reinterpret_cast<std::uint64_t*>(own_end_ + signal_layout::own_credit_offset);
  *word = credit;  // an earlier put that has not left yet may carry this newer credit
  memory_.put_with_signal(peer(), 0, nullptr, 0, peer_offset_, word);
}

}  // namespace longshore::one_sided

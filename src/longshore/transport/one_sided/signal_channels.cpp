// Both ends of a channel between nodes. The sender puts a message and then its signal word; the
// receiver polls the word. Credits return in words of the reverse channel, or in puts of their own.
#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/one_sided/signal_channels.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

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
  // Numbers and credits must differ from those of the previous message in the same slot. Half of
  // their range suffices for that; the other half stands for older credits in credit_beyond().
  const std::uint64_t max_slots = number_bits_ < 2 ? 0 : low(number_bits_ - 1);
  if (static_cast<std::uint64_t>(slots) > max_slots)
    fail(errc::unsupported,
         "a channel of {} slots of {} bytes: between nodes at most {} slots of that size are "
         "possible",
         slots, slot_bytes, max_slots);
}

signal_layout::signal_layout(std::size_t slot_bytes, int slots, bool is_simulated)
    : first_slot(words_offset + round_up(slots * sizeof(std::uint64_t), interference_bytes)),
      slot_stride(round_up(slot_bytes, cache_line_bytes)),
      sender_bytes(round_up(first_slot + slots * slot_stride, interference_bytes)),
      receiver_bytes(sender_bytes) {
  if (!is_simulated) return;
  sender_bytes = 2 * sizeof(std::uint64_t);
  receiver_bytes = sizeof(detail::simulated_arrivals);
}

signal_end::signal_end(std::size_t slot_bytes, int slots, library& lib, deferred_credits& deferred,
                       region& memory, std::size_t own_offset, std::size_t peer_offset)
    : library_(lib),
      deferred_credits_(deferred),
      memory_(memory),
      format_(slot_bytes, slots),
      own_end_(memory.local() + own_offset),
      peer_offset_(peer_offset),
      slots_(slots),
      simulated_(lib.simulated()) {
  const signal_layout layout(slot_bytes, slots, simulated_ != nullptr);
  first_slot_ = layout.first_slot;
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
      if (simulated_ != nullptr) [[unlikely]]
        reinterpret_cast<std::uint64_t*>(own_end_)[1] = 1;
      deferred_credits_.send_all();  // the peer may wait for these credits
      library_.progress();
      return nullptr;
    }
  }
  if (simulated_ != nullptr) [[unlikely]] {
    if (taken_slot_ == nullptr) taken_slot_ = simulated_->take_slot(slot_bytes());
    return taken_slot_;
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
  if (simulated_ != nullptr) [[unlikely]] {
    std::byte* const sent =
        simulated_->sent_slot(std::exchange(taken_slot_, nullptr), slot_bytes(), bytes);
    auto& given = detail::simulated_message::of(sent, detail::sent_slot_bytes(slot_bytes(), bytes));
    given = {nullptr, value};
    memory_.give(peer(), peer_offset_, given, bytes);
    return;
  }
  auto* const signal = reinterpret_cast<std::uint64_t*>(own_end_ + word);
  *signal = value;
  memory_.put_with_signal(peer(), peer_offset_ + message, own_end_ + message, bytes,
                          peer_offset_ + word, signal);
}

void deferred_credits::send_all() {
  for (auto* const receiver : receivers_) {
    receiver->send_credit();
    receiver->is_deferred_ = false;
  }
  receivers_.clear();
}

// The signal word in a slot. On a simulated machine, of the oldest message that has arrived, or of
// the message before it.
std::uint64_t signal_receiver::word_of(std::size_t slot) const noexcept {
  if (simulated_ != nullptr) [[unlikely]]
    return arrivals().first != nullptr ? arrivals().first->signal : format_.word(consumed_, 0, 0);
  return load_word(own_end_ + signal_layout::words_offset + slot * sizeof(std::uint64_t));
}

// Sends the credit if no message has arrived (unless reads_all()), or if half of the slots are used.
// A rank may poll only this channel, and never wait. So every 8192 empty polls also send the credits
// of its other channels.
std::optional<std::span<const std::byte>> signal_receiver::front() {
  const std::uint64_t word = word_of(slot_);
  if (!format_.is_of(word, consumed_ + 1)) {
    constexpr unsigned polls_per_send = 8192;  // more than a wait makes before it sends credits
    if (simulated_ != nullptr && arrivals().may_have_message != nullptr) [[unlikely]]
      *arrivals().may_have_message = false;  // before a call that lets messages arrive
    if (credit_sent_ != consumed_ && !defers_credit())
      send_credit();
    else
      library_.progress();
    if (++empty_polls_ % polls_per_send == 0) deferred_credits_.send_all();
    return std::nullopt;
  }
  if (credits_read_ == consumed_) {
    ++credits_read_;
    if (reverse_ != nullptr) reverse_->take_credit(format_, word);
  }
  if (credit_is_due()) send_credit();
  if (simulated_ != nullptr && charged_ == consumed_) [[unlikely]] {
    ++charged_;
    simulated_->charge_receive(format_.bytes(word));
  }
  return std::span<const std::byte>(current_slot(), format_.bytes(word));
}

std::byte* signal_receiver::current_slot() const noexcept {
  if (simulated_ != nullptr) [[unlikely]]
    return arrivals().first->slot(simulated_slot_bytes());
  return own_end_ + slot_offset();
}

void signal_receiver::collect_credits() {
  if (simulated_ != nullptr) [[unlikely]] {
    std::uint64_t number = consumed_;
    for (const auto* message = arrivals().first; message != nullptr; message = message->next)
      if (++number > credits_read_) {
        credits_read_ = number;
        reverse_->take_credit(format_, message->signal);
      }
    return;
  }
  for (; credits_read_ - consumed_ < slots_; ++credits_read_) {
    const std::uint64_t word = word_of(credits_read_ % slots_);
    if (!format_.is_of(word, credits_read_ + 1)) return;
    reverse_->take_credit(format_, word);
  }
}

void signal_receiver::release() {
  assert(consumed_ < credits_read_);
  if (simulated_ != nullptr) [[unlikely]] {
    std::byte* const slot = current_slot();
    arrivals().first = arrivals().first->next;
    simulated_->return_slot(slot);
  }
  advance();
  ++consumed_;
  // With fewer slots the credit waits for a reply that may carry the credit, or for the next
  // front().
  constexpr std::uint64_t min_slots = 4;
  if (slots_ >= min_slots && credit_is_due()) {
    send_credit();
  } else if (!is_deferred_ && !defers_credit()) {
    deferred_credits_.add(*this);
    is_deferred_ = true;
  }
}

void signal_receiver::send_credit() {
  if (credit_sent_ == consumed_) return;
  credit_sent_ = consumed_;
  if (simulated_ != nullptr) [[unlikely]] {
    memory_.give_credit(peer(), peer_offset_, consumed_);
    return;
  }
  auto* const credit =
      reinterpret_cast<std::uint64_t*>(own_end_ + signal_layout::own_credit_offset);
  *credit = consumed_;  // an earlier put that has not left yet may carry this newer credit
  memory_.put_with_signal(peer(), 0, nullptr, 0, peer_offset_, credit);
}

}  // namespace longshore::one_sided

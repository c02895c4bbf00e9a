#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/one_sided/signal_channels.hpp>

#include <algorithm>
#include <bit>
#include <cassert>

namespace longshore::one_sided {
namespace {

// Reads a word that the other end writes.
std::uint64_t word_at(const std::byte* place) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(place)))
      .load(std::memory_order_acquire);
}

}  // namespace

signal_format::signal_format(std::size_t slot_bytes, int slots)
    : length_bits_(static_cast<unsigned>(std::bit_width(slot_bytes))),
      number_bits_((64 - length_bits_) / 2) {
  // numbers and credits must differ from those one round earlier
  const std::uint64_t most = number_bits_ < 2 ? 0 : low(number_bits_ - 1);
  if (static_cast<std::uint64_t>(slots) > most)
    fail(errc::unsupported,
         "a channel of {} slots of {} bytes: between nodes at most {} slots of that size are "
         "possible",
         slots, slot_bytes, most);
}

signal_layout::signal_layout(std::size_t slot_bytes, int slots)
    : first_slot(words_at + round_up(static_cast<std::size_t>(slots) * sizeof(std::uint64_t),
                                     interference_bytes)),
      slot_stride(round_up(slot_bytes, cache_line_bytes)),
      total_bytes(round_up(first_slot + static_cast<std::size_t>(slots) * slot_stride,
                           interference_bytes)) {}

signal_sender::signal_sender(channel_end end, int slots, library& lib, deferred_credits& deferred,
                             region& memory, std::size_t here, std::size_t there)
    : channel_sender(end),
      library_(lib),
      deferred_credits_(deferred),
      memory_(memory),
      format_(end.slot_bytes, slots),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

// The sender's slot is free as soon as the receiver's is, because a message that was taken has left
// the sender's memory. A credit that was sent alone arrives after all earlier messages of the
// reverse channel. So their credits are taken together with it, and a credit that is older than
// consumed_seen_ is older by at most the number of slots, as credit_beyond() requires.
std::byte* signal_sender::reserve() {
  if (produced_ - consumed_seen_ == slots_) {
    const std::uint64_t credit = word_at(here_);
    if (reverse_ != nullptr) reverse_->collect_credits();
    consumed_seen_ = std::max(consumed_seen_, credit);
    if (produced_ - consumed_seen_ == slots_) {
      deferred_credits_.send_all();  // the peer may wait for credits of this rank
      library_.progress();
      return nullptr;
    }
  }
  return here_ + layout_.first_slot + slot_ * layout_.slot_stride;
}

void signal_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_seen_ < slots_);
  const std::size_t message = layout_.first_slot + slot_ * layout_.slot_stride;
  const std::size_t word = signal_layout::words_at + slot_ * sizeof(std::uint64_t);
  auto* const signal = reinterpret_cast<std::uint64_t*>(here_ + word);
  *signal =
      format_.word(++produced_, bytes, reverse_ != nullptr ? reverse_->piggyback_credit() : 0);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  memory_.put_with_signal(peer(), there_ + message, here_ + message, bytes, there_ + word, signal);
}

void deferred_credits::send_all() {
  for (auto* const receiver : receivers_) {
    receiver->send_credit();
    receiver->is_deferred_ = false;
  }
  receivers_.clear();
}

signal_receiver::signal_receiver(channel_end end, int slots, library& lib,
                                 deferred_credits& deferred, region& memory, std::size_t here,
                                 std::size_t there)
    : channel_receiver(end),
      library_(lib),
      deferred_credits_(deferred),
      memory_(memory),
      format_(end.slot_bytes, slots),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

std::uint64_t signal_receiver::word_of(std::size_t slot) const noexcept {
  return word_at(here_ + signal_layout::words_at + slot * sizeof(std::uint64_t));
}

// Sends the credit if no message has arrived, or if half of the slots are used. A rank may only
// poll this channel, and never wait. So every 8192 empty polls the credits of its other channels
// are sent too.
std::optional<std::span<const std::byte>> signal_receiver::front() {
  const std::uint64_t word = word_of(slot_);
  if (!format_.is_of(word, consumed_ + 1)) {
    constexpr unsigned many = 8192;  // more than a wait makes before it sends credits
    if (credit_sent_ != consumed_)
      send_credit();
    else
      library_.progress();
    if (++empty_polls_ % many == 0) deferred_credits_.send_all();
    return std::nullopt;
  }
  if (credits_read_ == consumed_) {
    ++credits_read_;
    if (reverse_ != nullptr) reverse_->take_credit(format_, word);
  }
  if (credit_is_due()) send_credit();
  return std::span<const std::byte>(here_ + layout_.first_slot + slot_ * layout_.slot_stride,
                                    format_.bytes(word));
}

void signal_receiver::collect_credits() {
  for (; credits_read_ - consumed_ < slots_; ++credits_read_) {
    const std::uint64_t word = word_of(credits_read_ % slots_);
    if (!format_.is_of(word, credits_read_ + 1)) return;
    reverse_->take_credit(format_, word);
  }
}

void signal_receiver::release() {
  assert(consumed_ < credits_read_);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  ++consumed_;
  // With few slots the credit waits for a reply that may carry it, or for the next front().
  constexpr std::uint64_t few = 4;
  if (slots_ >= few && credit_is_due()) {
    send_credit();
  } else if (!is_deferred_) {
    deferred_credits_.add(*this);
    is_deferred_ = true;
  }
}

void signal_receiver::send_credit() {
  if (credit_sent_ == consumed_) return;
  credit_sent_ = consumed_;
  auto* const credit = reinterpret_cast<std::uint64_t*>(here_ + signal_layout::credit_source_at);
  *credit = consumed_;  // an earlier put that has not left yet may carry the newer credit
  memory_.put_with_signal(peer(), 0, nullptr, 0, there_, credit);
}

}  // namespace longshore::one_sided

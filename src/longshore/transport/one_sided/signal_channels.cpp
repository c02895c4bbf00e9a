#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/one_sided/signal_channels.hpp>

#include <algorithm>
#include <bit>
#include <cassert>

namespace longshore::one_sided {
namespace {

// What the other end writes.
std::uint64_t word_at(const std::byte* place) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(place)))
      .load(std::memory_order_acquire);
}

}  // namespace

signal_format::signal_format(std::size_t slot_bytes, int slots)
    : length_bits_(static_cast<unsigned>(std::bit_width(slot_bytes))),
      number_bits_((64 - length_bits_) / 2) {
  const std::uint64_t most =
      // numbers and credits are told from those a round before
      number_bits_ < 2 ? 0 : low(number_bits_ - 1);
  if (static_cast<std::uint64_t>(slots) > most)
    fail(errc::unsupported,
         "a channel of {} slots of {} bytes: between nodes at most {} slots of that size", slots,
         slot_bytes, most);
}

signal_layout::signal_layout(std::size_t slot_bytes, int slots)
    : first_slot(words_at + round_up(static_cast<std::size_t>(slots) * sizeof(std::uint64_t),
                                     interference_bytes)),
      slot_stride(round_up(slot_bytes, cache_line_bytes)),
      total_bytes(round_up(first_slot + static_cast<std::size_t>(slots) * slot_stride,
                           interference_bytes)) {}

signal_sender::signal_sender(channel_end end, int slots, library& lib, untold_credits& untold,
                             region& memory, std::size_t here, std::size_t there)
    : channel_sender(end),
      library_(lib),
      untold_(untold),
      memory_(memory),
      format_(end.slot_bytes, slots),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

// A slot here is free when the one there is: what was taken has left this memory long ago. A credit
// that went alone is behind all messages that were sent before it: theirs are taken with it, so
// that one that is older than what is known is never older by more than the slots.
std::byte* signal_sender::reserve() {
  if (produced_ - consumed_seen_ == slots_) {
    const std::uint64_t told = word_at(here_);
    if (back_ != nullptr) back_->look_for_credits();
    consumed_seen_ = std::max(consumed_seen_, told);
    if (produced_ - consumed_seen_ == slots_) {
      untold_.tell();  // the peer may wait for what this rank has taken
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
  auto* const said = reinterpret_cast<std::uint64_t*>(here_ + word);
  *said = format_.word(++produced_, bytes, back_ != nullptr ? back_->tell_along() : 0);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  memory_.put_with_signal(peer(), there_ + message, here_ + message, bytes, there_ + word, said);
}

void untold_credits::tell() {
  for (auto* const receiver : receivers_) {
    receiver->tell();
    receiver->noted_ = false;
  }
  receivers_.clear();
}

signal_receiver::signal_receiver(channel_end end, int slots, library& lib, untold_credits& untold,
                                 region& memory, std::size_t here, std::size_t there)
    : channel_receiver(end),
      library_(lib),
      untold_(untold),
      memory_(memory),
      format_(end.slot_bytes, slots),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

std::uint64_t signal_receiver::word_of(std::size_t slot) const noexcept {
  return word_at(here_ + signal_layout::words_at + slot * sizeof(std::uint64_t));
}

// A message is taken as soon as it is there; before looking for the next one in vain, or while many
// are there, the sender is told. A rank may do nothing but look here, not even wait: then the
// senders of other channels are told, too.
std::optional<std::span<const std::byte>> signal_receiver::front() {
  const std::uint64_t word = word_of(slot_);
  if (!format_.is_of(word, consumed_ + 1)) {
    constexpr unsigned many = 8192;  // more than there are in a wait before it tells
    if (told_ != consumed_)
      tell();
    else
      library_.progress();
    if (++vain_looks_ % many == 0) untold_.tell();
    return std::nullopt;
  }
  if (credits_read_ == consumed_) {
    ++credits_read_;
    if (back_ != nullptr) back_->take_credit(format_, word);
  }
  if (must_tell()) tell();
  return std::span<const std::byte>(here_ + layout_.first_slot + slot_ * layout_.slot_stride,
                                    format_.bytes(word));
}

void signal_receiver::look_for_credits() {
  for (; credits_read_ - consumed_ < slots_; ++credits_read_) {
    const std::uint64_t word = word_of(credits_read_ % slots_);
    if (!format_.is_of(word, credits_read_ + 1)) return;
    back_->take_credit(format_, word);
  }
}

void signal_receiver::release() {
  assert(consumed_ < credits_read_);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  ++consumed_;
  // with few slots the answer goes first, and the next front() tells
  constexpr std::uint64_t few = 4;
  if (slots_ >= few && must_tell()) {
    tell();
  } else if (!noted_) {
    untold_.add(*this);
    noted_ = true;
  }
}

void signal_receiver::tell() {
  if (told_ == consumed_) return;
  told_ = consumed_;
  auto* const said = reinterpret_cast<std::uint64_t*>(here_ + signal_layout::said_at);
  *said = consumed_;  // a put that has not left yet may say this already: so much the better
  memory_.put_with_signal(peer(), 0, nullptr, 0, there_, said);
}

}  // namespace longshore::one_sided

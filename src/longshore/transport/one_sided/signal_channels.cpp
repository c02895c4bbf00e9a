#include <longshore/core/bytes.hpp>
#include <longshore/transport/one_sided/signal_channels.hpp>

#include <cassert>
#include <cstring>

namespace longshore::one_sided {
namespace {

// The counter that the other end writes.
std::uint64_t counter_at(const std::byte* end) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(end))).load(std::memory_order_acquire);
}

}  // namespace

signal_layout::signal_layout(std::size_t slot_bytes, int slots)
    : first_slot(interference_bytes),
      slot_stride(head_bytes + round_up(slot_bytes, cache_line_bytes)),
      total_bytes(round_up(first_slot + static_cast<std::size_t>(slots) * slot_stride, interference_bytes)) {}

signal_sender::signal_sender(channel_end end, int slots, library& lib, untold_credits& untold, region& memory, std::size_t here,
                             std::size_t there)
    : channel_sender(end),
      library_(lib),
      untold_(untold),
      memory_(memory),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

// A slot here is free when the one there is: what was taken has left this memory long ago.
std::byte* signal_sender::reserve() {
  if (produced_ - consumed_seen_ == slots_) {
    consumed_seen_ = counter_at(here_);
    if (produced_ - consumed_seen_ == slots_) {
      untold_.tell();  // the peer may wait for what this rank has taken
      library_.progress();
      return nullptr;
    }
  }
  return here_ + layout_.first_slot + slot_ * layout_.slot_stride + signal_layout::head_bytes;
}

void signal_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_seen_ < slots_);
  const std::size_t at = layout_.first_slot + slot_ * layout_.slot_stride;
  auto* const count = reinterpret_cast<std::uint64_t*>(here_ + at + signal_layout::count_at);
  const std::uint64_t length = bytes;
  *count = ++produced_;
  std::memcpy(here_ + at + signal_layout::length_at, &length, sizeof length);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  const std::size_t from = at + signal_layout::length_at;
  memory_.put_with_signal(peer(), there_ + from, here_ + from, sizeof length + bytes, there_, count);
}

void untold_credits::tell() {
  for (auto* const receiver : receivers_) {
    receiver->tell();
    receiver->noted_ = false;
  }
  receivers_.clear();
}

signal_receiver::signal_receiver(channel_end end, int slots, library& lib, untold_credits& untold, region& memory,
                                 std::size_t here, std::size_t there)
    : channel_receiver(end),
      library_(lib),
      untold_(untold),
      memory_(memory),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

// A message is taken as soon as it is there; before looking for the next one in vain, or while many are there, the sender is told.
std::optional<std::span<const std::byte>> signal_receiver::front() {
  if (consumed_ == produced_seen_) {
    produced_seen_ = counter_at(here_);
    if (consumed_ == produced_seen_) {
      if (told_ != consumed_)
        tell();
      else
        library_.progress();
      return std::nullopt;
    }
  }
  if (must_tell()) tell();
  const std::byte* const slot = here_ + layout_.first_slot + slot_ * layout_.slot_stride + signal_layout::head_bytes;
  std::uint64_t length = 0;
  std::memcpy(&length, slot - signal_layout::head_bytes + signal_layout::length_at, sizeof length);
  return std::span<const std::byte>(slot, length);
}

void signal_receiver::release() {
  assert(consumed_ < produced_seen_);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  ++consumed_;
  constexpr std::uint64_t few = 4;  // with few slots the answer goes first, and the next front() tells
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

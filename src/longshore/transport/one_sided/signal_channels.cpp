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
      slot_stride(length_bytes + round_up(slot_bytes, cache_line_bytes)),
      total_bytes(round_up(first_slot + static_cast<std::size_t>(slots) * slot_stride, interference_bytes)) {}

signal_sender::signal_sender(channel_end end, int slots, library& lib, region& memory, std::size_t here, std::size_t there)
    : channel_sender(end),
      library_(lib),
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
      library_.progress();
      return nullptr;
    }
  }
  return here_ + layout_.first_slot + slot_ * layout_.slot_stride + signal_layout::length_bytes;
}

void signal_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_seen_ < slots_);
  const std::size_t at = layout_.first_slot + slot_ * layout_.slot_stride;
  const std::uint64_t length = bytes;
  std::memcpy(here_ + at, &length, sizeof length);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  memory_.put_with_signal(peer(), there_ + at, here_ + at, signal_layout::length_bytes + bytes, there_, ++produced_);
}

signal_receiver::signal_receiver(channel_end end, int slots, library& lib, region& memory, std::size_t here, std::size_t there)
    : channel_receiver(end),
      library_(lib),
      memory_(memory),
      layout_(end.slot_bytes, slots),
      here_(memory.local() + here),
      there_(there),
      slots_(static_cast<std::uint64_t>(slots)) {}

std::optional<std::span<const std::byte>> signal_receiver::front() {
  if (consumed_ == produced_seen_) {
    produced_seen_ = counter_at(here_);
    if (consumed_ == produced_seen_) {
      library_.progress();
      return std::nullopt;
    }
  }
  const std::byte* const slot = here_ + layout_.first_slot + slot_ * layout_.slot_stride;
  std::uint64_t length = 0;
  std::memcpy(&length, slot, sizeof length);
  return std::span<const std::byte>(slot + signal_layout::length_bytes, length);
}

void signal_receiver::release() {
  assert(consumed_ < produced_seen_);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  memory_.put_with_signal(peer(), 0, nullptr, 0, there_, ++consumed_);
}

}  // namespace longshore::one_sided

// The ends of channels between simulated ranks. All ranks are in one process, so an end writes into
// the state of the other end. It writes at the simulated time at which the other rank would see the
// change. Only messages that ranks write, send or read have memory, because all slots of thousands
// of ranks would not fit.
//
// Within a node, the sender announces each message and the receiver each credit, as the stores of
// detail/ring_channels do. Between nodes a message is one put with a signal, and credits travel
// like those of one_sided/signal_channels.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/one_sided/detail/library.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace longshore::simulated {

class library;

/// A message to another node. It lies behind its slot (world::take_slot).
struct given_message {
  given_message* next = nullptr;
  std::size_t bytes = 0;
  std::uint64_t credit = 0;  ///< of the channel in the reverse direction

  static constexpr std::size_t offset_in(std::size_t slot_bytes) noexcept {
    return round_up(slot_bytes, alignof(given_message));
  }
  [[nodiscard]] static given_message& behind(std::byte* slot, std::size_t slot_bytes) noexcept {
    return *reinterpret_cast<given_message*>(slot + offset_in(slot_bytes));
  }
  [[nodiscard]] std::byte* slot(std::size_t slot_bytes) noexcept {
    return reinterpret_cast<std::byte*>(this) - offset_in(slot_bytes);
  }
};

/// The memory of a message of `bytes` bytes that was written into a slot of `slot_bytes`. A sent
/// message moves into the least power of two, because most messages of thousands of ranks are far
/// smaller than a slot.
[[nodiscard]] constexpr std::size_t sent_slot_bytes(std::size_t slot_bytes,
                                                    std::size_t bytes) noexcept {
  return std::min(slot_bytes, std::bit_ceil(std::max(bytes, cache_line_bytes)));
}

/// The messages that have arrived from another node and are not released, in memory of the
/// receiver. All bytes are zero at first.
struct arrivals {
  given_message *first, *last;
  bool* may_have_message;  ///< of the watch on the receiver; may be null

  void append(given_message& message) noexcept {
    (first == nullptr ? first : last->next) = &message;
    last = &message;
    if (may_have_message != nullptr) *may_have_message = true;
  }
};

/// The latest credit from another node, in memory of the sender.
struct arrived_credit {
  std::uint64_t consumed;
  std::uint64_t is_wanted;  ///< not 0 while the sender needs a slot; only then a credit ends a wait
};

/// A channel within a node, in memory of the sender. A sent_message for each slot follows it.
struct near_channel {
  struct sent_message {
    std::byte* slot;
    std::size_t bytes;
  };
  std::uint64_t consumed;
  std::uint64_t credit_is_wanted;
  bool* may_have_message;
  std::uint64_t produced;

  [[nodiscard]] sent_message& message(std::uint64_t number, int slots) noexcept {
    return reinterpret_cast<sent_message*>(this + 1)[number % static_cast<std::uint64_t>(slots)];
  }
};

/// Results of library::end_bytes() and library::later_bytes(). The latter assumes one message in
/// each channel to which this rank sends.
[[nodiscard]] std::size_t bytes_of_end(const channel_end& end, bool sends, bool is_near);
[[nodiscard]] std::size_t bytes_of_messages(std::span<const channel_end> to,
                                            std::span<const channel_end> from);

[[nodiscard]] std::unique_ptr<one_sided::message_channel_sender> make_sender(
    const channel_end& end, library& lib, one_sided::region& memory, std::size_t offset);
[[nodiscard]] std::unique_ptr<one_sided::message_channel_receiver> make_receiver(
    const channel_end& end, library& lib, one_sided::region& memory, std::size_t offset);
[[nodiscard]] std::unique_ptr<quiet_receivers> watch(std::span<channel_receiver* const> receivers,
                                                     library& lib);

}  // namespace longshore::simulated

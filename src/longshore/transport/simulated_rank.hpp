// The calls of a team to a simulated machine. Only the transport `simulated` implements them; on
// all other transports team::simulated() is null, and each call costs one comparison per batch.
#pragma once

#include <longshore/core/bytes.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace longshore {

/// Work of the processor, whose cost the file of a simulated machine gives (team::charge).
enum class work {
  copied_bytes,      ///< bytes copied within the memory of a rank: packing, unpacking, buffers
  streamed_bytes,    ///< bytes that a stream kernel of three arrays loads or stores
  stream_copies,     ///< the same of a kernel of two arrays
  pushed_items,      ///< items appended to buffers of an aggregation engine
  pulled_items,      ///< items taken from such buffers
  conveyor_pushes,   ///< as pushed_items, by conveyors, exstack2 and aggregators
  conveyor_pulls,    ///< as pulled_items, by the same
  replies,           ///< items of replies, counted at both ends, by exstack
  conveyor_replies,  ///< the same by conveyors, exstack2 and aggregators
  bucketed_keys,     ///< keys counted and scattered to their target ranks
  sorted_keys,       ///< keys sorted locally
  part_sorted_keys,  ///< the same, where the exchange has stored them by part
  table_accesses,    ///< loads or stores of single elements at random places of a table
  agp_accesses,      ///< the same by strategy agp
  table_updates,     ///< atomic updates of such elements, by several ranks
  private_updates,   ///< updates of such elements in a private copy of the table
  atomic_updates,    ///< atomic updates of memory of the node
  near_messages,     ///< messages through memory of the node: the time to announce one
};

namespace detail {

inline constexpr int work_kinds = 18;

/// Cells that a halo exchange copies.
struct copied_cells {
  std::size_t bytes = 0;
  double lines = 0;               ///< cache lines that short runs touch; a longer run counts as one
  std::size_t touched_bytes = 0;  ///< lines of all copies of the exchange, which caches may keep
};

/// A message of a channel to another node. It lies behind its slot (simulated_rank::take_slot).
struct simulated_message {
  simulated_message* next = nullptr;
  std::uint64_t signal = 0;

  static constexpr std::size_t offset_in(std::size_t slot_bytes) noexcept {
    return round_up(slot_bytes, alignof(simulated_message));
  }
  [[nodiscard]] static simulated_message& of(std::byte* slot, std::size_t slot_bytes) noexcept {
    return *reinterpret_cast<simulated_message*>(slot + offset_in(slot_bytes));
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

/// The messages that have arrived at a channel from another node and are not released, in the
/// memory of the receiver. All bytes are zero at first.
struct simulated_arrivals {
  simulated_message *first, *last;
  bool* may_have_message;  ///< of channel_receiver::watch(); may be null

  void append(simulated_message& message) noexcept {
    (first == nullptr ? first : last->next) = &message;
    last = &message;
    if (may_have_message != nullptr) *may_have_message = true;
  }
};

/// One rank of a simulated machine. All times are in seconds of the simulated clock.
class simulated_rank {
 public:
  virtual ~simulated_rank() = default;
  simulated_rank() = default;
  simulated_rank(const simulated_rank&) = delete;
  simulated_rank& operator=(const simulated_rank&) = delete;

  /// Advances this rank's clock by the cost of `amount` units of work.
  virtual void charge(work kind, std::size_t amount) = 0;
  /// As charge(), for a copy from or to the memory of `peer`, a rank of the same node.
  virtual void charge_copy(int peer, std::size_t bytes) = 0;
  virtual void charge_cells(int peer, const copied_cells& cells) = 0;
  virtual void charge_seconds(double seconds) = 0;
  /// Memory for a message of up to `bytes` bytes of a channel, aligned to a cache line, and for a
  /// simulated_message behind it. Only messages that ranks write, send or read have memory, because
  /// all slots of thousands of ranks would not fit. Freed at the end of the run at the latest.
  [[nodiscard]] virtual std::byte* take_slot(std::size_t bytes) = 0;
  virtual void return_slot(std::byte* slot) noexcept = 0;
  /// Moves a message of `bytes` bytes from a slot of `slot_bytes` to memory of sent_slot_bytes().
  [[nodiscard]] std::byte* sent_slot(std::byte* slot, std::size_t slot_bytes, std::size_t bytes) {
    const std::size_t sent_bytes = sent_slot_bytes(slot_bytes, bytes);
    if (sent_bytes == slot_bytes) return slot;
    std::byte* const sent = take_slot(sent_bytes);
    std::memcpy(sent, slot, bytes);
    return_slot(slot);
    return sent;
  }
  /// Throws errc::out_of_memory unless each rank can have so many bytes more. All ranks that ask for
  /// the same between two collective calls get the same answer.
  virtual void require_memory(std::size_t bytes) = 0;
  /// This rank takes a message from another node, of `bytes` or only a signal.
  virtual void charge_receive(std::size_t bytes) = 0;
  /// Lets everything happen that other ranks do before this rank's clock.
  virtual void synchronise() = 0;
  /// As synchronise(), before a load that polls, or so many loads. A loop that only polls does not
  /// stop the clock.
  virtual void poll(std::size_t loads) = 0;
  void poll() { poll(1); }
  /// Changes memory at `at` that `peer`, a rank of the same node, polls. `make` makes the change,
  /// which happens after the latency of memory, and returns whether the peer may wait for it. The
  /// change does not happen if the memory is freed before.
  virtual void change(const void* at, int peer, std::function<bool()> make) = 0;
  /// Stores `value` to a word that `peer` polls, by change().
  template <class T>
  void store(std::atomic<T>& word, T value, int peer) {
    change(&word, peer, [&word, value] {
      word.store(value, std::memory_order_relaxed);
      return true;
    });
  }
  /// Gives the core to other ranks until an event may have ended the wait.
  virtual void block(const char* operation, int peer) = 0;
  /// A wait has ended that called block().
  virtual void wait_ended() noexcept = 0;
  [[nodiscard]] virtual double now() = 0;
  /// Events of all ranks since the start of the run.
  [[nodiscard]] virtual std::uint64_t events() const noexcept = 0;
};

}  // namespace detail
}  // namespace longshore
